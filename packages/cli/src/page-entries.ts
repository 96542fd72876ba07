import { decodeHead, type Server } from '@cattlegrid/redis/internal'
import type { Connection } from './connection.ts'
import { scan } from './scan.ts'

/** Nearly every head ends before this byte. The longest one ends before the second. */
const LAST_BYTE = 1023
const LAST_BYTE_OF_ANY = 2 ** 18 - 1
const PROGRESS_INTERVAL = 1000

/** The share of the time left that the search may take: the rest is for reading what it has found. */
const SEARCH_SHARE = 0.75

/** The entries that carry a tag. */
export interface TaggedEntries {
  readonly keys: readonly string[]
  /** The number of entries that were searched. */
  readonly searched: number
  /** False: the time was over before all entries were searched. */
  readonly complete: boolean
}

/** Searches the namespace for the entries that carry one of the tags. `onProgress` is called about once a second. @throws CommandError as of `Connection`. */
export async function findTagged(
  connection: Connection,
  tags: readonly string[],
  onProgress: (searched: number) => void,
): Promise<TaggedEntries> {
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
      onProgress(searched)
    }
    if (now > endsAt) return { keys: [...found], searched, complete: false }
  }
  return { keys: [...found], searched, complete: true }
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
