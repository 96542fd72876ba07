import type { Codec } from '@cattlegrid/core'
import { NO_VERSION, type Read } from '@cattlegrid/core/extend'
import type { Server } from '../link/client.ts'
import { awayAfter } from '../link/link.ts'
import type { StepParts } from '../lua/scripts.ts'
import { decodeEntry, expiryOf, longestLife, type ReadResult, type RecordExpiry, unreadable } from './decode-entry.ts'
import { ExpiryCache, type KnownExpiry } from './expiry-cache.ts'
import {
  decodeHead,
  isOtherFormat,
  type RecordHead,
  startsWithHead,
  VERSION_END,
  VERSION_START,
  versionIn,
} from './record.ts'

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

class ReadRequest {
  readonly key: string
  /** The key's name in Redis. */
  readonly name: string
  readonly codec: Codec
  readonly known: KnownExpiry<RecordExpiry> | undefined

  constructor(key: string, name: string, codec: Codec, known: KnownExpiry<RecordExpiry> | undefined) {
    this.key = key
    this.name = name
    this.codec = codec
    this.known = known
  }
}

/** Reads entries. A failure is returned as a result; no read rejects. */
export class EntryReader {
  readonly #parts: Omit<StepParts, 'steps'>
  readonly #expiries = new ExpiryCache<RecordExpiry>()

  constructor(parts: Omit<StepParts, 'steps'>) {
    this.#parts = parts
  }

  /**
   * Sends GET alone when the expiry is remembered, else PTTL and GET. Not an async function: that would cost
   * each hit one more promise.
   */
  read(key: string, codec: Codec): Promise<Read> {
    const name = this.#parts.redisKeys.entry(key)
    const known = this.#expiries.get(key)
    const request = new ReadRequest(key, name, codec, known)
    // The coarse clock may lag; that is harmless, because the caller judges freshness by the expiry in
    // the result.
    if (known === undefined || this.#parts.runtime.coarseNow() >= known.trustedUntil)
      return this.#readWithExpiry(request)
    // Taken now: `known` may hold another expiry when the reply arrives.
    const { expiry } = known
    return this.#parts.link
      .send(name, ['GET', name], 'bytes')
      .then((reply) => this.#useKnownExpiry(request, expiry, reply), this.#failed)
  }

  /**
   * Forgets the expiry of a key that has changed: a GET alone would return another version, and the key would
   * have to be read again.
   */
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
      (fetched) => (isMixed(fetched) ? this.#fetch(name).then(toResult, this.#failed) : toResult(fetched)),
      this.#failed,
    )
  }

  #fetch(name: string): Promise<FetchedEntry> {
    try {
      return this.#parts.link.inOrder(name, (server) => fetchEntry(server, name, this.#wholeNow()))
    } catch (cause) {
      return Promise.reject(cause)
    }
  }

  #resultOf({ key, name, codec, known }: ReadRequest, fetched: FetchedEntry): ReadResult | Promise<Read> {
    const { sentAt, left, reply, bytes, head } = fetched
    if (bytes === undefined) return reply === null ? MISSING : this.#readVersionOnly(name, reply)
    if (head === undefined) {
      const cause = new TypeError(`The value at '${name}' is not a record that this version of the library can read`)
      return unreadable(versionIn(bytes), isOtherFormat(bytes) ? 'other-format' : 'foreign', cause)
    }
    if (left > longestLife(head)) this.#shorten(name, longestLife(head))
    const { committedAt, freshUntil } = expiryOf(head, left, sentAt)
    const expiry = { committedAt, freshUntil, head }
    if (head.bodyStart <= LONGEST_HEAD) this.#expiries.remember(key, known, expiry, sentAt)
    return decodeEntry(bytes, expiry, codec)
  }

  /**
   * Ends the effect of a clock that was set back, once: unless it is written, the entry has all of its
   * windows left at each read. Never extends the life of an entry.
   */
  #shorten(name: string, longest: number): void {
    this.#parts.link.send(name, ['PEXPIRE', name, String(longest), 'LT'], 'text').catch(this.#failed)
  }

  /** Reads the version alone, which is text: without it no caller could acquire the lease. */
  async #readVersionOnly(name: string, reply: unknown): Promise<Read> {
    const cause = new TypeError(
      `The Redis client replied with a ${typeof reply} instead of bytes: it ignores \`options.typeMapping\` of \`sendCommand\``,
    )
    try {
      const range = [String(VERSION_START), String(VERSION_END - 1)]
      const version = await this.#parts.link.send(name, ['GETRANGE', name, ...range], 'text')
      return unreadable(String(version), 'foreign', cause)
    } catch (error) {
      return this.#failed(error)
    }
  }

  /**
   * Whole ms, rounded down: V8 stores a fraction as a separate heap object, which every hit would have to
   * dereference.
   */
  #wholeNow(): number {
    return Math.floor(this.#parts.runtime.now())
  }

  readonly #failed = (cause: unknown): Read => {
    this.#parts.denied.note(cause)
    return cause instanceof Error && cause.message.startsWith('WRONGTYPE')
      ? unreadable(NO_VERSION, 'foreign', cause)
      : awayAfter(cause)
  }
}

/**
 * Sends PTTL before GET, in one write. In the opposite order, the old body could get the time to live of a
 * new entry:
 *
 * 1. A reads the bytes: the old body           2. B commits a new body, fresh for its whole ttl
 * 3. A reads the time to live: that of B's     4. A would serve the old body as fresh
 */
function fetchEntry(server: Server, name: string, sentAt: number): Promise<FetchedEntry> {
  const time = server.send(['PTTL', name], 'text')
  const entry = server.send(['GET', name], 'bytes')
  return Promise.all([time, entry]).then(([left, reply]) => {
    const bytes = bufferOf(reply)
    return { sentAt, left: Number(left), reply, bytes, head: bytes && decodeHead(bytes) }
  })
}

function bufferOf(reply: unknown): Buffer | undefined {
  if (Buffer.isBuffer(reply)) return reply
  return reply instanceof Uint8Array ? Buffer.from(reply.buffer, reply.byteOffset, reply.byteLength) : undefined
}

/**
 * True if the time to live and the bytes cannot belong to one entry: another process wrote between the
 * two commands.
 */
function isMixed({ left, bytes, head }: FetchedEntry): boolean {
  return bytes !== undefined && (left === -2 || left > (head?.keepFor ?? Infinity))
}
