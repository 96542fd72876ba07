import {
  awayBecause,
  type Codec,
  type Entry,
  EXPIRED_BY_HAND,
  NO_VERSION,
  type Read,
  type Runtime,
  type Unreadable,
  type Version,
} from '@cattlegrid/core'
import type { RedisKeys } from './redis-keys.ts'
import { type KnownExpiry, ExpiryCache, type Expiry } from './expiry-cache.ts'
import type { Link, Server } from './link/link.ts'
import { decodeHead, startsWithHead, type RecordHead, VERSION_END, VERSION_START, versionIn } from './record.ts'
import { AS_BYTES, AS_TEXT } from './redis-client.ts'

/** The result of a read that Redis answered. */
type ReadResult = Exclude<Read, { kind: 'away' }>

/** A longer head (one with many tags) is not remembered, bytes: thousands of heads are kept in memory. */
const LONGEST_HEAD = 512

const MISSING: ReadResult = { kind: 'missing', version: NO_VERSION }

/** The replies to PTTL and GET at an entry's key. */
interface FetchedEntry {
  /** When the commands were sent. Expiry counts from here, so that it is never too late. */
  readonly sentAt: number
  /** The reply to PTTL. */
  readonly left: number
  readonly reply: unknown
  /** The reply to GET, if it is bytes. */
  readonly bytes: Buffer | undefined
  /** Undefined if the bytes are no record of this format. */
  readonly head: RecordHead | undefined
}

/** The expiry of a version, and the head of its record. */
interface RecordExpiry extends Expiry {
  readonly head: RecordHead
}

interface ReadRequest {
  readonly key: string
  /** The key's name in Redis. */
  readonly name: string
  readonly codec: Codec
  readonly known: KnownExpiry<RecordExpiry> | undefined
}

/** Reads entries. A failure is returned as a result; no read rejects. */
export class EntryReader {
  readonly #link: Link
  readonly #redisKeys: RedisKeys
  readonly #runtime: Runtime
  readonly #expiries = new ExpiryCache<RecordExpiry>()

  constructor(link: Link, redisKeys: RedisKeys, runtime: Runtime) {
    this.#link = link
    this.#redisKeys = redisKeys
    this.#runtime = runtime
  }

  /** Sends GET alone when the expiry is remembered, else PTTL and GET. Not an async function: that would cost each hit one more promise. */
  read(key: string, codec: Codec): Promise<Read> {
    const name = this.#redisKeys.entry(key)
    const known = this.#expiries.get(key)
    const request = { key, name, codec, known }
    // The coarse clock may lag; that is harmless, because the caller judges freshness by the expiry in the result.
    if (known === undefined || this.#runtime.coarseNow() >= known.trustedUntil) return this.#readWithExpiry(request)
    // Taken now: `known` may hold another expiry when the reply arrives.
    const { expiry } = known
    return this.#link
      .send(name, ['GET', name], AS_BYTES)
      .then((reply) => this.#useKnownExpiry(request, expiry, reply), failed)
  }

  /** Forgets the expiry of a key that has changed: a GET alone would return another version, and the key would have to be read again. */
  forget(key: string): void {
    this.#expiries.forget(key)
  }

  forgetAll(): void {
    this.#expiries.clear()
  }

  #useKnownExpiry(request: ReadRequest, expiry: RecordExpiry, reply: unknown): ReadResult | Promise<Read> {
    const bytes = bufferOf(reply)
    if (bytes !== undefined && startsWithHead(bytes, expiry.head)) return decodeEntry(bytes, expiry, request.codec)
    this.#expiries.forget(request.key)
    return reply === null ? MISSING : this.#readWithExpiry(request)
  }

  #readWithExpiry(request: ReadRequest): Promise<Read> {
    const { name } = request
    const toResult = (fetched: FetchedEntry): ReadResult | Promise<Read> => this.#resultOf(request, fetched)
    return this.#fetch(name).then(
      (fetched) => (isMixed(fetched) ? this.#fetch(name).then(toResult, failed) : toResult(fetched)),
      failed,
    )
  }

  #fetch(name: string): Promise<FetchedEntry> {
    try {
      return this.#link.inOrder(name, (server) => fetchEntry(server, name, this.#wholeNow()))
    } catch (cause) {
      return Promise.reject(cause)
    }
  }

  #resultOf({ key, name, codec, known }: ReadRequest, fetched: FetchedEntry): ReadResult | Promise<Read> {
    const { sentAt, left, reply, bytes, head } = fetched
    if (bytes === undefined) return reply === null ? MISSING : this.#readVersionOnly(name, reply)
    if (head === undefined) {
      const cause = new TypeError(`The value at '${name}' is not a record that this version of the library can read`)
      return unreadable(versionIn(bytes), 'foreign', cause)
    }
    const { committedAt, freshUntil } = expiryOf(head, left, sentAt)
    const expiry = { committedAt, freshUntil, head }
    if (head.bodyStart <= LONGEST_HEAD) this.#expiries.remember(key, known, expiry, sentAt)
    return decodeEntry(bytes, expiry, codec)
  }

  /** Reads the version alone, which is text: without it no caller could acquire the lease. */
  async #readVersionOnly(name: string, reply: unknown): Promise<Read> {
    const cause = new TypeError(
      `The Redis client replied with a ${typeof reply} instead of bytes: it ignores \`options.typeMapping\` of \`sendCommand\``,
    )
    try {
      const range = [String(VERSION_START), String(VERSION_END - 1)]
      const version = await this.#link.send(name, ['GETRANGE', name, ...range], AS_TEXT)
      return unreadable(String(version), 'foreign', cause)
    } catch (error) {
      return failed(error)
    }
  }

  /** Whole ms, rounded down: V8 stores a fraction as a separate heap object, which every hit would have to dereference. */
  #wholeNow(): number {
    return Math.floor(this.#runtime.now())
  }
}

/**
 * Sends PTTL before GET, in one write. In the opposite order, the old body could get the time to live of a new entry:
 *
 * 1. A reads the bytes: the old body           2. B commits a new body, fresh for its whole ttl
 * 3. A reads the time to live: that of B's     4. A would serve the old body as fresh
 */
function fetchEntry(server: Server, name: string, sentAt: number): Promise<FetchedEntry> {
  const time = server.sendCommand(['PTTL', name], AS_TEXT)
  const entry = server.sendCommand(['GET', name], AS_BYTES)
  return Promise.all([time, entry]).then(([left, reply]) => {
    const bytes = bufferOf(reply)
    return { sentAt, left: Number(left), reply, bytes, head: bytes && decodeHead(bytes) }
  })
}

function bufferOf(reply: unknown): Buffer | undefined {
  if (Buffer.isBuffer(reply)) return reply
  return reply instanceof Uint8Array ? Buffer.from(reply.buffer, reply.byteOffset, reply.byteLength) : undefined
}

/** Whether the time to live and the bytes cannot belong to one entry: another process wrote between the two commands. */
function isMixed({ left, bytes, head }: FetchedEntry): boolean {
  return bytes !== undefined && (left === -2 || left > (head?.keepFor ?? Infinity))
}

function failed(cause: unknown): Read {
  return cause instanceof Error && cause.message.startsWith('WRONGTYPE')
    ? unreadable(NO_VERSION, 'foreign', cause)
    : awayBecause(cause)
}

function decodeEntry(bytes: Buffer, expiry: RecordExpiry, codec: Codec): ReadResult {
  const { head } = expiry
  const body = bytes.subarray(head.bodyStart)
  try {
    return { kind: 'found', entry: entryOf(head, decode(head, body, codec), body.length, expiry) }
  } catch (cause) {
    return unreadable(head.version, 'undecodable', cause)
  }
}

function unreadable(version: Version, why: Unreadable['why'], cause: unknown): ReadResult {
  return { kind: 'missing', version, because: { why, cause } }
}

function decode({ codecId }: RecordHead, body: Buffer, codec: Codec): unknown {
  if (codecId !== codec.id)
    throw new TypeError(`The entry was encoded by codec ${codecId}, this one is codec ${codec.id}`)
  return codec.decode(body)
}

/** An entry is fresh while its time to live exceeds its stale window. Both are durations, so no host's time of day is involved. */
export function expiryOf({ keepFor, staleFor, version }: RecordHead, left: number, sentAt: number): Expiry {
  // The library never wrote this time to live: it has no end, or exceeds that of the record. The entry is then stale, never fresh.
  const known = left >= 0 && left <= keepFor
  const rest = known ? left : staleFor
  const freshFor = version === EXPIRED_BY_HAND ? Math.min(0, rest - staleFor) : rest - staleFor
  return { committedAt: sentAt - (keepFor - rest), freshUntil: sentAt + freshFor }
}

/** `size`: the length of the encoded value, bytes. */
export function entryOf(head: RecordHead, value: unknown, size: number, { committedAt, freshUntil }: Expiry): Entry {
  const { version, staleWhileRevalidate, staleIfError, loadTime, tags, tagSeq } = head
  return {
    value,
    version,
    committedAt,
    freshUntil,
    expired: version === EXPIRED_BY_HAND,
    staleWhileRevalidate,
    staleIfError,
    loadTime,
    tags,
    tagSeq,
    size,
    from: 'store',
  }
}
