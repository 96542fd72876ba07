import { hotKeyDigest } from '@cattlegrid/explain'
import { urlTagsOf } from '@cattlegrid/http'
import { decodeHead, type Server } from '@cattlegrid/redis/internal'
import type { CommandContext } from './command.ts'
import { CommandError } from './command-error.ts'
import type { Connection } from './connection.ts'

const NAMES_PER_REPLY = '1000'
/** The share of the time left that a search may take: the rest is for reading what it has found. */
const SEARCH_SHARE = 0.75
const TOP_DIGEST = /^#[0-9a-f]{12}$/

/** Some names in Redis, and the master that has them. */
export interface Page {
  readonly server: Server
  readonly names: readonly string[]
}

/**
 * All names in Redis, those of one master after those of the other; of a namespace, those of its entries. A name may come twice, and one whose slot moves
 * meanwhile may be missed.
 */
export async function* scan(connection: Connection, pattern: string | undefined): AsyncGenerator<Page> {
  const matching = pattern === undefined ? [] : ['MATCH', pattern]
  for (const server of await connection.ask(async (link) => link.masters())) {
    let cursor = '0'
    do {
      const args = ['SCAN', cursor, ...matching, 'COUNT', NAMES_PER_REPLY]
      const reply = await connection.ask(() => server.send(args, 'text'))
      const [next, names] = reply as readonly [string, readonly string[]]
      cursor = next
      yield { server, names }
    } while (cursor !== '0')
  }
}

/** The key with an entry that `top` shows by this digest; undefined for any other text, and where the search finds none in time. */
export async function keyOfTopDigest(connection: Connection, digest: string): Promise<string | undefined> {
  if (!TOP_DIGEST.test(digest)) return undefined
  const { redisKeys, runtime } = connection
  const endsAt = runtime.elapsed() + connection.timeLeft * SEARCH_SHARE
  for await (const { names } of scan(connection, redisKeys.patterns.entries)) {
    const keys = names.map((name) => redisKeys.keyOf(name)).filter((key) => key !== undefined)
    const found = keys.find((key) => hotKeyDigest(key) === digest)
    if (found !== undefined || runtime.elapsed() > endsAt) return found
  }
  return undefined
}

/** Nearly every head ends before this byte. The longest one ends before the second. */
const LAST_BYTE = 1023
const LAST_BYTE_OF_ANY = 2 ** 18 - 1
const PROGRESS_INTERVAL = 1000

/** The entries that carry the tag of a page. */
export interface PageEntries {
  readonly keys: readonly string[]
  /** The number of entries that were searched. */
  readonly searched: number
  /** False: the time was over before all entries were searched. */
  readonly complete: boolean
}

/** Searches the namespace for the entries of a page, and tells about once a second how far it is. @throws CommandError as of `Connection`. */
export async function findEntriesOf(page: string, { connection, terminal }: CommandContext): Promise<PageEntries> {
  const tags = urlTagsOf(page)
  const { redisKeys, runtime } = connection
  const endsAt = runtime.elapsed() + connection.timeLeft * SEARCH_SHARE
  const found = new Set<string>()
  let searched = 0
  let progressAt = runtime.elapsed() + PROGRESS_INTERVAL
  for await (const { server, names } of scan(connection, redisKeys.patterns.entries)) {
    for (const key of await keysCarrying(connection, server, names, tags)) found.add(key)
    searched += names.filter((name) => name !== redisKeys.tagSequence).length
    const now = runtime.elapsed()
    if (now >= progressAt) {
      progressAt = now + PROGRESS_INTERVAL
      terminal.err(`${countOf(searched)} searched so far.`)
    }
    if (now > endsAt) return { keys: [...found], searched, complete: false }
  }
  return { keys: [...found], searched, complete: true }
}

/** @throws CommandError, after what was found is shown, when the whole namespace could not be searched. */
export function assertComplete({ complete, searched }: PageEntries): void {
  if (complete) return
  const problem = `The time was over after ${countOf(searched)}; the others were not searched.`
  throw new CommandError(1, problem, 'Allow more time, such as --timeout 1m.')
}

export function countOf(entries: number): string {
  return `${entries.toLocaleString('en')} ${entries === 1 ? 'entry' : 'entries'}`
}

async function keysCarrying(
  connection: Connection,
  server: Server,
  names: readonly string[],
  tags: readonly string[],
): Promise<readonly string[]> {
  const carried = await connection.ask(() => Promise.all(names.map((name) => carries(server, name, tags))))
  const keys = names.map((name, index) => (carried[index] === true ? connection.redisKeys.keyOf(name) : undefined))
  return keys.filter((key) => key !== undefined)
}

/** A value of another type, or an entry whose slot has moved meanwhile. */
const PASSED_OVER = /^(?:WRONGTYPE|MOVED|ASK) /

/** True if the entry of this name carries one of the tags. */
async function carries(server: Server, name: string, tags: readonly string[]): Promise<boolean> {
  try {
    const start = await bytesOf(server, name, LAST_BYTE)
    const isCut = start.length > LAST_BYTE && decodeHead(start) === undefined
    const head = decodeHead(isCut ? await bytesOf(server, name, LAST_BYTE_OF_ANY) : start)
    return head?.tags.some((tag) => tags.includes(tag)) === true
  } catch (error) {
    if (error instanceof Error && PASSED_OVER.test(error.message)) return false
    throw error
  }
}

async function bytesOf(server: Server, name: string, last: number): Promise<Buffer> {
  return (await server.send(['GETRANGE', name, '0', String(last)], 'bytes')) as Buffer
}
