import { hotKeyDigest } from '@cattlegrid/explain'
import { urlTagsOf } from '@cattlegrid/http'
import type { CommandContext } from './command.ts'
import { CommandError } from './command-error.ts'
import type { Connection } from './connection.ts'

/** The share of the time left that a search may take: the rest is for reading what it has found. */
const SEARCH_SHARE = 0.75
const TOP_DIGEST = /^#[0-9a-f]{12}$/

/**
 * The key with an entry that `top` shows by this digest; undefined for any other text, and where the search
 * finds none in time.
 */
export async function keyOfTopDigest(connection: Connection, digest: string): Promise<string | undefined> {
  if (!TOP_DIGEST.test(digest)) return undefined
  const { runtime } = connection
  const endsAt = runtime.elapsed() + connection.timeLeft * SEARCH_SHARE
  for await (const { keys } of connection.search((admin) => admin.keys())) {
    const found = keys.find((key) => hotKeyDigest(key) === digest)
    if (found !== undefined || runtime.elapsed() > endsAt) return found
  }
  return undefined
}

const PROGRESS_INTERVAL = 1000

/** The entries that carry the tag of a page. */
export interface PageEntries {
  readonly keys: readonly string[]
  /** The number of entries that were searched. */
  readonly searched: number
  /** False: the time was over before all entries were searched. */
  readonly complete: boolean
}

/**
 * Searches the namespace for the entries of a page, and tells about once a second how far it is.
 *
 * @throws CommandError as of `Connection`.
 */
export async function findEntriesOf(page: string, { connection, terminal }: CommandContext): Promise<PageEntries> {
  const tags = urlTagsOf(page)
  const { runtime } = connection
  const endsAt = runtime.elapsed() + connection.timeLeft * SEARCH_SHARE
  const found = new Set<string>()
  let searched = 0
  let progressAt = runtime.elapsed() + PROGRESS_INTERVAL
  for await (const { keys, withTag } of connection.search((admin) => admin.keys())) {
    for (const key of await connection.ask(() => withTag(tags))) found.add(key)
    searched += keys.length
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
