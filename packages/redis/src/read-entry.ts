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
import { decodeHead, isHeadedBy, type RecordHead, VERSION_END, VERSION_START, versionIn } from './record.ts'
import { AS_BYTES, AS_TEXT } from './redis-client.ts'

/** What Redis has to say about an entry. */
type Answer = Exclude<Read, { kind: 'away' }>

/** A head that is longer, in bytes, one of many tags, is not remembered: thousands of heads are. */
const LONGEST_HEAD = 512

const NOTHING: Answer = { kind: 'missing', version: NO_VERSION }

/** Bytes at an entry's key, and the head of the record that they are, if any. */
interface Found {
  /** The moments that are told to the caller count from here, so that none is too late. */
  readonly sentAt: number
  /** How long the key has to live, as PTTL tells it. */
  readonly left: number
  readonly reply: unknown
  /** The reply, where it is bytes. */
  readonly bytes: Buffer | undefined
  readonly head: RecordHead | undefined
}

/** A life, and what the record says besides. */
interface HeadedLife extends Expiry {
  readonly head: RecordHead
}

interface Question {
  readonly key: string
  /** The key's name in Redis. */
  readonly name: string
  readonly codec: Codec
  readonly known: KnownExpiry<HeadedLife> | undefined
}

/** Reads entries; what goes wrong is a value. */
export class EntryReader {
  readonly #link: Link
  readonly #names: RedisKeys
  readonly #runtime: Runtime
  readonly #lives = new ExpiryCache<HeadedLife>()

  constructor(link: Link, names: RedisKeys, runtime: Runtime) {
    this.#link = link
    this.#names = names
    this.#runtime = runtime
  }

  /** By the bytes alone, where the life of what they should be is known. No async function: to a hit, each is a promise more. */
  read(key: string, codec: Codec): Promise<Read> {
    const name = this.#names.entry(key)
    const known = this.#lives.of(key)
    const question = { key, name, codec, known }
    // A clock that lags does no harm: what is returned is judged by the moments in it.
    if (known === undefined || this.#runtime.coarseNow() >= known.until) return this.#readAll(question)
    // It may have another by the time of the answer.
    const { life } = known
    return this.#link
      .send(name, ['GET', name], AS_BYTES)
      .then((reply) => this.#recognise(question, life, reply), failed)
  }

  /** The key has changed: its bytes would be asked for in vain. */
  forget(key: string): void {
    this.#lives.forget(key)
  }

  forgetAll(): void {
    this.#lives.clear()
  }

  #recognise(question: Question, life: HeadedLife, reply: unknown): Answer | Promise<Read> {
    const bytes = bufferOf(reply)
    if (bytes !== undefined && isHeadedBy(bytes, life.head)) return answerOf(bytes, life, question.codec)
    this.#lives.forget(question.key)
    return reply === null ? NOTHING : this.#readAll(question)
  }

  #readAll(question: Question): Promise<Read> {
    const { name } = question
    const learn = (found: Found): Answer | Promise<Read> => this.#learn(question, found)
    return this.#ask(name).then(
      (found) => (isMixed(found) ? this.#ask(name).then(learn, failed) : learn(found)),
      failed,
    )
  }

  #ask(name: string): Promise<Found> {
    try {
      return this.#link.inOrder(name, (server) => fetch(server, name, this.#wholeNow()))
    } catch (cause) {
      return Promise.reject(cause)
    }
  }

  #learn({ key, name, codec, known }: Question, found: Found): Answer | Promise<Read> {
    const { sentAt, left, reply, bytes, head } = found
    if (bytes === undefined) return reply === null ? NOTHING : this.#withoutBytes(name, reply)
    if (head === undefined) {
      const cause = new TypeError(`What stands at '${name}' is no record of this version of the library`)
      return unreadable(versionIn(bytes), 'foreign', cause)
    }
    const { committedAt, freshUntil } = lifeOf(head, left, sentAt)
    const life = { committedAt, freshUntil, head }
    if (head.bodyStart <= LONGEST_HEAD) this.#lives.note(key, known, life, sentAt)
    return answerOf(bytes, life, codec)
  }

  /** The bytes are lost; the version, without which nobody is granted the lease, is text and can be had alone. */
  async #withoutBytes(name: string, reply: unknown): Promise<Read> {
    const cause = new TypeError(
      `The Redis client replied with a ${typeof reply} where bytes were asked for: it ignores \`options.typeMapping\` of \`sendCommand\``,
    )
    try {
      const range = [String(VERSION_START), String(VERSION_END - 1)]
      const version = await this.#link.send(name, ['GETRANGE', name, ...range], AS_TEXT)
      return unreadable(String(version), 'foreign', cause)
    } catch (error) {
      return failed(error)
    }
  }

  /** Whole ms, rounded down: a number with a fraction would be an object of its own in every copy that is kept, and a hit would follow it. */
  #wholeNow(): number {
    return Math.floor(this.#runtime.now())
  }
}

/**
 * The time left is asked for before the bytes, in one write. The other way round, a commit between the two would lend its life to the body
 * that it replaced:
 *
 * 1. A reads the bytes: the old body      2. B commits the new body, fresh for its whole ttl
 * 3. A reads the time left: B's           4. A would serve the old body as fresh
 */
function fetch(server: Server, name: string, sentAt: number): Promise<Found> {
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

/** Whether time and bytes cannot be those of one entry: somebody wrote between the two commands. */
function isMixed({ left, bytes, head }: Found): boolean {
  return bytes !== undefined && (left === -2 || left > (head?.keepFor ?? Infinity))
}

function failed(cause: unknown): Read {
  return cause instanceof Error && cause.message.startsWith('WRONGTYPE')
    ? unreadable(NO_VERSION, 'foreign', cause)
    : awayBecause(cause)
}

function answerOf(bytes: Buffer, life: HeadedLife, codec: Codec): Answer {
  const { head } = life
  const body = bytes.subarray(head.bodyStart)
  try {
    return { kind: 'found', entry: entryOf(head, decode(head, body, codec), body.length, life) }
  } catch (cause) {
    return unreadable(head.version, 'undecodable', cause)
  }
}

function unreadable(version: Version, why: Unreadable['why'], cause: unknown): Answer {
  return { kind: 'missing', version, because: { why, cause } }
}

function decode({ codecId }: RecordHead, body: Buffer, codec: Codec): unknown {
  if (codecId !== codec.id)
    throw new TypeError(`The entry was encoded by codec ${codecId}, this one is codec ${codec.id}`)
  return codec.decode(body)
}

/** Freshness is the time left beyond the stale window: relative, so no host's clock takes part in it. */
export function lifeOf({ keepFor, staleFor, version }: RecordHead, left: number, sentAt: number): Expiry {
  // Not a life that we gave it: without an end, or longer than it was written for. Stale then, never fresh.
  const known = left >= 0 && left <= keepFor
  const rest = known ? left : staleFor
  const freshFor = version === EXPIRED_BY_HAND ? Math.min(0, rest - staleFor) : rest - staleFor
  return { committedAt: sentAt - (keepFor - rest), freshUntil: sentAt + freshFor }
}

/** `size`: of the encoded value, bytes. */
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
