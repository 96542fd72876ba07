import { decodeHead, isRecord } from './record.ts'
import type { Server } from '../link/client.ts'
import type { Link } from '../link/link.ts'
import { RedisKeys } from '../redis-keys.ts'

/** Some keys that have an entry. */
export interface KeyPage {
  readonly keys: readonly string[]
  /** Returns the keys whose entry carries one of the tags. */
  readonly withTag: (tags: readonly string[]) => Promise<readonly string[]>
}

/** Some names in Redis. */
export interface NamespacePage {
  /** The number of names. */
  readonly searched: number
  /** True if one of the names is of this namespace. */
  readonly own: boolean
  /** The other namespaces that were not on an earlier page. */
  readonly others: readonly string[]
}

const NAMES_PER_REPLY = '1000'
/** What PTTL replies for a name that does not exist. */
const MISSING = -2
/** The name of an entry, or of a tag sequence, behind its namespace. */
const NAME = /^([^{}\s]{1,128}):\{[^{}]+\}$/
/** All of a record's head that does not depend on its tags. */
const LAST_BYTE_BEFORE_TAGS = 54
/** Nearly every head ends before this byte. The longest one ends before the second. */
const LAST_BYTE = 1023
const LAST_BYTE_OF_ANY = 2 ** 18 - 1
/** A value of another type, or an entry whose slot has moved meanwhile. */
const PASSED_OVER = /^(?:WRONGTYPE|MOVED|ASK) /

/** True if one of the keys has an entry, or the namespace has a tag sequence. */
export async function holds(link: Link, redisKeys: RedisKeys, keys: readonly string[]): Promise<boolean> {
  const names = [redisKeys.tagSequence, ...keys.map((key) => redisKeys.entry(key))]
  const left = await Promise.all(names.map((name) => link.send(name, ['PTTL', name], 'text')))
  return left.some((reply) => Number(reply) !== MISSING)
}

export async function* keyPages(link: Link, redisKeys: RedisKeys): AsyncGenerator<KeyPage> {
  for await (const { server, names } of scan(link, redisKeys.patterns.entries)) {
    const found = names.flatMap((name) => {
      const key = redisKeys.keyOf(name)
      return key === undefined ? [] : [{ key, name }]
    })
    yield {
      keys: found.map(({ key }) => key),
      withTag: async (tags) => {
        const carried = await Promise.all(found.map(({ name }) => carries(server, name, tags)))
        return found.flatMap(({ key }, index) => (carried[index] === true ? [key] : []))
      },
    }
  }
}

export async function* namespacePages(link: Link, namespace: string): AsyncGenerator<NamespacePage> {
  const known = new Set([namespace])
  for await (const { server, names } of scan(link)) {
    const own = names.some((name) => name.startsWith(`${namespace}:{`))
    const others = await namespacesIn(server, names, known)
    for (const other of others) known.add(other)
    yield { searched: names.length, own, others }
  }
}

/** All names in Redis that match the pattern, those of one master after those of the other. */
async function* scan(
  link: Link,
  pattern?: string,
): AsyncGenerator<{ readonly server: Server; readonly names: readonly string[] }> {
  const matching = pattern === undefined ? [] : ['MATCH', pattern]
  for (const server of link.masters()) {
    let cursor = '0'
    do {
      const reply = await server.send(['SCAN', cursor, ...matching, 'COUNT', NAMES_PER_REPLY], 'text')
      const [next, names] = reply as readonly [string, readonly string[]]
      cursor = next
      yield { server, names }
    } while (cursor !== '0')
  }
}

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

/** The namespaces of which the names have an entry or the tag sequence. */
async function namespacesIn(
  server: Server,
  names: readonly string[],
  known: ReadonlySet<string>,
): Promise<readonly string[]> {
  const samples = new Map<string, string>()
  for (const name of names) {
    const namespace = NAME.exec(name)?.[1]
    if (namespace !== undefined && !known.has(namespace)) samples.set(namespace, name)
  }
  const judged = [...samples].map(async ([namespace, name]) => {
    if (name === new RedisKeys(namespace).tagSequence) return namespace
    // Another library may use such names, with values of any type.
    const head = await bytesOf(server, name, LAST_BYTE_BEFORE_TAGS).catch(() => undefined)
    return head !== undefined && isRecord(head) ? namespace : undefined
  })
  return (await Promise.all(judged)).filter((namespace) => namespace !== undefined)
}

async function bytesOf(server: Server, name: string, last: number): Promise<Buffer> {
  return (await server.send(['GETRANGE', name, '0', String(last)], 'bytes')) as Buffer
}
