import { type Codec, type Entry, NO_VERSION, type Read, type Runtime } from '@cattlegrid/core'
import type { Names } from './keys.ts'
import { decodeRecord, EXPIRED_BY_HAND, type StoredRecord, versionIn } from './record.ts'
import { AS_BYTES, AS_TEXT, type RedisClient } from './redis-client.ts'

/** Bytes at an entry's key, the record that they are, if any, and how long they have to live, as PTTL tells it. */
interface Found {
  readonly left: number
  readonly bytes: Buffer | undefined
  readonly record: StoredRecord | undefined
}

/** Reads an entry; the moments it returns count from `sentAt`, so that none is too late. Rejects with what Redis or the client says. */
export async function readEntry(
  client: RedisClient,
  names: Names,
  key: string,
  codec: Codec,
  runtime: Runtime,
): Promise<Exclude<Read, { kind: 'away' }>> {
  const name = names.entry(key)
  let sentAt = runtime.now()
  let found = await fetch(client, name)
  if (isMixed(found)) {
    sentAt = runtime.now()
    found = await fetch(client, name)
  }
  if (found instanceof Error) return { kind: 'missing', version: NO_VERSION, because: { why: 'foreign', cause: found } }
  const { left, bytes, record } = found
  if (bytes === undefined) return { kind: 'missing', version: NO_VERSION }
  const version = versionIn(bytes)
  if (record === undefined) {
    const cause = new TypeError(`What stands at '${name}' is no record of this version of the library`)
    return { kind: 'missing', version, because: { why: 'foreign', cause } }
  }
  if (await tagFell(client, names, record)) return { kind: 'missing', version }
  try {
    return { kind: 'found', entry: entryOf(record, decode(record, codec), left, sentAt) }
  } catch (cause) {
    return { kind: 'missing', version, because: { why: 'undecodable', cause } }
  }
}

/**
 * The time left is asked for before the bytes, in one write. The other way round, a commit between the two would lend its life to the body
 * that it replaced:
 *
 * 1. A reads the bytes: the old body      2. B commits the new body, fresh for its whole ttl
 * 3. A reads the time left: B's           4. A would serve the old body as fresh
 */
async function fetch(client: RedisClient, name: string): Promise<Found | Error> {
  const left = client.sendCommand(['PTTL', name], AS_TEXT)
  const bytes = client.sendCommand(['GET', name], AS_BYTES)
  try {
    const [time, body] = await Promise.all([left, bytes])
    const found = body instanceof Uint8Array ? asBuffer(body) : undefined
    return { left: Number(time), bytes: found, record: found === undefined ? undefined : decodeRecord(found) }
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('WRONGTYPE')) return error
    throw error
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Whether time and bytes cannot be those of one entry: somebody wrote between the two commands. */
function isMixed(found: Found | Error): boolean {
  if (found instanceof Error || found.bytes === undefined) return false
  return found.left === -2 || found.left > (found.record?.keepFor ?? Infinity)
}

/** One read of the numbers. A tag that has none was evicted: nobody knows any more whether it fell. */
async function tagFell(client: RedisClient, names: Names, { tags, tagSeq }: StoredRecord): Promise<boolean> {
  if (tags.length === 0) return false
  const numbers = (await client.sendCommand(['MGET', ...tags.map((tag) => names.tag(tag))], AS_TEXT)) as readonly (
    string | null
  )[]
  return numbers.some((number) => number === null || BigInt(number) > tagSeq)
}

function decode({ codecId, body }: StoredRecord, codec: Codec): unknown {
  if (codecId !== codec.id)
    throw new TypeError(`The entry was encoded by codec ${codecId}, this one is codec ${codec.id}`)
  return codec.decode(body)
}

/** Freshness is the time left beyond the stale window: relative, so no host's clock takes part in it. */
export function entryOf(record: StoredRecord, value: unknown, left: number, sentAt: number): Entry {
  const { keepFor, staleFor, version, staleWhileRevalidate, staleIfError, loadTime } = record
  // Not a life that we gave it: without an end, or longer than it was written for. Stale then, never fresh.
  const known = left >= 0 && left <= keepFor
  const rest = known ? left : staleFor
  const freshFor = version === EXPIRED_BY_HAND ? Math.min(0, rest - staleFor) : rest - staleFor
  return {
    value,
    version,
    bornAt: sentAt - (keepFor - rest),
    freshUntil: sentAt + freshFor,
    staleWhileRevalidate,
    staleIfError,
    loadTime,
  }
}
