import { isRecord, RedisKeys } from '@cattlegrid/redis/internal'
import type { CommandContext } from './command.ts'
import type { Connection } from './connection.ts'
import { displayKeys } from './print.ts'
import { type Page, scan } from './search.ts'

/** The search ends after so many names, or after so many ms. */
const MOST_NAMES = 100_000
const LONGEST_SEARCH = 1000
const MOST_NAMESPACES = 10
/** The name of an entry, or of a tag sequence, behind its namespace. */
const NAME = /^([^{}\s]{1,128}):\{[^{}]+\}$/
/** What PTTL replies for a name that does not exist. */
const MISSING = -2
/** All of a record's head that does not depend on its tags. */
const LAST_BYTE = '54'

/**
 * Says that nothing stands under the connection's namespace, and which other namespaces have entries: a misspelt namespace looks like an empty one.
 * `keys`: stored keys, which spare the search if one of them has an entry. Empty: something stands there, or the search was refused.
 */
export async function namespaceNotes(connection: Connection, keys: readonly string[] = []): Promise<readonly string[]> {
  const own = `${connection.target.namespace}:{`
  const found = new Set<string>()
  const endsAt = connection.runtime.elapsed() + LONGEST_SEARCH
  let searched = 0
  try {
    if (await existsOne(connection, keys)) return []
    for await (const page of scan(connection, undefined)) {
      if (page.names.some((name) => name.startsWith(own))) return []
      for (const namespace of await namespacesIn(page, found)) found.add(namespace)
      searched += page.names.length
      if (searched >= MOST_NAMES || connection.runtime.elapsed() > endsAt) return [noteOf(connection, found, searched)]
    }
  } catch {
    // What the command itself says counts.
    return []
  }
  return [noteOf(connection, found, undefined)]
}

/** Comes before the command: an invalidated key may empty the namespace, and a tag or a pause stands under it. */
export async function warnOfEmptyNamespace(
  { connection, terminal }: CommandContext,
  keys?: readonly string[],
): Promise<void> {
  for (const note of await namespaceNotes(connection, keys)) terminal.err(`${note}.`)
}

/** True if the namespace has a tag sequence, or an entry of one of the keys. */
async function existsOne(connection: Connection, keys: readonly string[]): Promise<boolean> {
  const { tagSequence } = connection.redisKeys
  const names = [tagSequence, ...keys.map((key) => connection.redisKeys.entry(key))]
  const left = await connection.ask((link) => Promise.all(names.map((name) => link.send(name, ['PTTL', name], 'text'))))
  return left.some((reply) => Number(reply) !== MISSING)
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

/** The namespaces of which a page has an entry or the tag sequence. */
async function namespacesIn({ server, names }: Page, known: ReadonlySet<string>): Promise<readonly string[]> {
  const samples = new Map<string, string>()
  for (const name of names) {
    const namespace = NAME.exec(name)?.[1]
    if (namespace !== undefined && !known.has(namespace)) samples.set(namespace, name)
  }
  const judged = [...samples].map(async ([namespace, name]) => {
    if (name === new RedisKeys(namespace).tagSequence) return namespace
    // Another library may use such names, with values of any type.
    const head = await server.send(['GETRANGE', name, '0', LAST_BYTE], 'bytes').catch(() => undefined)
    return Buffer.isBuffer(head) && isRecord(head) ? namespace : undefined
  })
  return (await Promise.all(judged)).filter((namespace) => namespace !== undefined)
}
