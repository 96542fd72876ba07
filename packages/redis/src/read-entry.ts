import {
  type Codec,
  type Entry,
  NO_VERSION,
  type Read,
  type Runtime,
  type Unreadable,
  type Version,
} from '@cattlegrid/core'
import type { Names } from './keys.ts'
import { KnownLives, type Life } from './known-lives.ts'
import type { Link, Server } from './link/link.ts'
import { decodeHead, EXPIRED_BY_HAND, isHeadedBy, type RecordHead, versionIn } from './record.ts'
import { AS_BYTES, AS_TEXT } from './redis-client.ts'

/** What Redis has to say about an entry. */
type Answer = Exclude<Read, { kind: 'away' }>

/** A head that is longer, in bytes, one of many tags, is not remembered: thousands of heads are. */
const LONGEST_HEAD = 512

const NOTHING: Answer = { kind: 'missing', version: NO_VERSION }

/** Bytes at an entry's key, the head of the record that they are, if any, and how long they have to live, as PTTL tells it. */
interface Found {
  readonly left: number
  readonly bytes: Buffer | undefined
  readonly head: RecordHead | undefined
}

/** A life, and what the record says besides. */
interface HeadedLife extends Life {
  readonly head: RecordHead
}

/** Reads entries; what goes wrong is a value. */
export class EntryReader {
  readonly #link: Link
  readonly #names: Names
  readonly #runtime: Runtime
  readonly #lives = new KnownLives<HeadedLife>()

  constructor(link: Link, names: Names, runtime: Runtime) {
    this.#link = link
    this.#names = names
    this.#runtime = runtime
  }

  /** By the bytes alone, where the life of what they should be is known. No async function: to a hit, each is a promise more. */
  read(key: string, codec: Codec): Promise<Read> {
    const name = this.#names.entry(key)
    // A clock that lags does no harm: what is returned is judged by the moments in it.
    const life = this.#lives.of(key, this.#runtime.coarseNow())
    if (life === undefined) return this.#readAll(key, name, codec).catch(failed)
    return this.#link
      .send(name, ['GET', name], AS_BYTES)
      .then((reply) => this.#recognise(reply, key, name, codec, life), failed)
  }

  /** The key has changed: its bytes would be asked for in vain. */
  forget(key: string): void {
    this.#lives.forget(key)
  }

  forgetAll(): void {
    this.#lives.clear()
  }

  #recognise(reply: unknown, key: string, name: string, codec: Codec, life: HeadedLife): Answer | Promise<Read> {
    const bytes = bufferOf(reply)
    if (bytes !== undefined && isHeadedBy(bytes, life.head)) return answerOf(bytes, life, codec)
    this.#lives.forget(key)
    return bytes === undefined ? NOTHING : this.#readAll(key, name, codec).catch(failed)
  }

  /** The moments that it returns count from when they were asked for, so that none is too late. */
  async #readAll(key: string, name: string, codec: Codec): Promise<Answer> {
    const ask = (server: Server): Promise<Found> => fetch(server, name)
    let sentAt = this.#wholeNow()
    let found = await this.#link.inOrder(name, ask)
    if (isMixed(found)) {
      sentAt = this.#wholeNow()
      found = await this.#link.inOrder(name, ask)
    }
    const { left, bytes, head } = found
    if (bytes === undefined) return NOTHING
    if (head === undefined) {
      const cause = new TypeError(`What stands at '${name}' is no record of this version of the library`)
      return unreadable(versionIn(bytes), 'foreign', cause)
    }
    const life = { ...lifeOf(head, left, sentAt), head }
    if (head.bodyStart <= LONGEST_HEAD) this.#lives.note(key, life, sentAt)
    return answerOf(bytes, life, codec)
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
async function fetch(server: Server, name: string): Promise<Found> {
  const left = server.sendCommand(['PTTL', name], AS_TEXT)
  const bytes = server.sendCommand(['GET', name], AS_BYTES)
  const [time, body] = await Promise.all([left, bytes])
  const found = bufferOf(body)
  return { left: Number(time), bytes: found, head: found && decodeHead(found) }
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
    : { kind: 'away', why: 'error', cause }
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
export function lifeOf({ keepFor, staleFor, version }: RecordHead, left: number, sentAt: number): Life {
  // Not a life that we gave it: without an end, or longer than it was written for. Stale then, never fresh.
  const known = left >= 0 && left <= keepFor
  const rest = known ? left : staleFor
  const freshFor = version === EXPIRED_BY_HAND ? Math.min(0, rest - staleFor) : rest - staleFor
  return { bornAt: sentAt - (keepFor - rest), freshUntil: sentAt + freshFor }
}

/** `size`: of the encoded value, bytes. */
export function entryOf(head: RecordHead, value: unknown, size: number, { bornAt, freshUntil }: Life): Entry {
  const { version, staleWhileRevalidate, staleIfError, loadTime, tags, tagSeq } = head
  return {
    value,
    version,
    bornAt,
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
