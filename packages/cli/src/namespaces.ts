import type { CommandContext } from './command.ts'
import type { Connection } from './connection.ts'
import { displayKeys } from './print.ts'

/** The search ends after this number of names, or after this time, ms. */
const MOST_NAMES = 100_000
const LONGEST_SEARCH = 1000
const MOST_NAMESPACES = 10

/**
 * Says that nothing stands under the connection's namespace, and which other namespaces have entries: a
 * misspelt namespace looks like an empty one. `keys`: stored keys, which spare the search if one of them has
 * an entry. Empty: something stands there, or the search was refused.
 */
export async function namespaceNotes(connection: Connection, keys: readonly string[] = []): Promise<readonly string[]> {
  const found = new Set<string>()
  const endsAt = connection.runtime.elapsed() + LONGEST_SEARCH
  let searched = 0
  try {
    if (await connection.ask((admin) => admin.holds(keys))) return []
    for await (const page of connection.search((admin) => admin.namespaces())) {
      if (page.own) return []
      for (const namespace of page.others) found.add(namespace)
      searched += page.searched
      if (searched >= MOST_NAMES || connection.runtime.elapsed() > endsAt) return [noteOf(connection, found, searched)]
    }
  } catch {
    // What the command itself says counts.
    return []
  }
  return [noteOf(connection, found, undefined)]
}

/**
 * Comes before the command: an invalidated key may empty the namespace, and a tag or a pause stands under it.
 */
export async function warnOfEmptyNamespace(
  { connection, terminal }: CommandContext,
  keys?: readonly string[],
): Promise<void> {
  for (const note of await namespaceNotes(connection, keys)) terminal.err(`${note}.`)
}

/** `searched`: the names that were searched, of more; undefined: all were. */
function noteOf({ target }: Connection, found: ReadonlySet<string>, searched: number | undefined): string {
  const where =
    searched === undefined ? 'Nothing stands' : `Of ${searched.toLocaleString('en')} names searched, none stands`
  const shown = [...found].toSorted().slice(0, MOST_NAMESPACES)
  const more = found.size > shown.length ? `, and ${found.size - shown.length} more` : ''
  const others = found.size === 0 ? 'no other namespace was found' : `namespaces found: ${displayKeys(shown)}${more}`
  return `${where} under the namespace '${target.namespace}'; ${others}`
}
