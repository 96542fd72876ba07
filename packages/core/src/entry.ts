import { runDetached } from './runtime/runtime.ts'

/**
 * The identity of an entry at its store: compared for equality, never ordered. A shared store returns the raw
 * bytes at the place of the version, one character a byte, even of a record that is no entry, so that an
 * acquire can tell "changed since the read".
 */
export type Version = string

/** The version of a key without an entry. */
export const NO_VERSION: Version = ''

/**
 * Why bytes are no entry for the caller. `foreign`: they are no record of this library. `other-format`: a
 * version of the library wrote them whose record format this one cannot read. `other-codec`: another codec
 * wrote the value. `undecodable`: the codec failed.
 */
export interface Unreadable {
  readonly why: 'foreign' | 'other-format' | 'other-codec' | 'undecodable'
  readonly cause: unknown
}

/** Turns the first character of a version, a digit, into a letter from `p` to `y`. */
const EXPIRED_MARK = 0x40

/**
 * The version of an entry once `expire()` made it stale: the version of its write with a mark, so that no two
 * entries share one. Every version of a store begins with a digit.
 *
 * @example
 * import { expiredVersion } from '@cattlegrid/core/extend'
 *
 * console.log(expiredVersion('0017')) // 'p017'
 */
export function expiredVersion(version: Version): Version {
  return String.fromCharCode(version.charCodeAt(0) | EXPIRED_MARK) + version.slice(1)
}

/** The longest ttl, ms: 4,461 years, which a store keeps in 6 bytes. An `Infinity` becomes this. */
export const LONGEST_TTL: number = 2 ** 47

/** The longest stale window, ms: it travels as 32 bits, which is 49 days. */
export const LONGEST_WINDOW: number = 2 ** 32 - 1

/** The largest encoded value, in bytes: Redis refuses a longer string and closes the connection. */
export const MAX_ENTRY_BYTES: number = 512 * 1024 ** 2

/** The lengths of an entry's windows, ms. */
export interface Windows {
  /** Fresh for this long, jitter already subtracted. */
  readonly ttl: number
  /** After `ttl`: may be served at once while one leader refreshes behind. */
  readonly staleWhileRevalidate: number
  /** After `ttl`: may be served when a load fails, is slow, or the key is cooling. */
  readonly staleIfError: number
}

/** An entry that a leader or a `set` offers to the store. */
export interface NewEntry extends Windows {
  readonly value: unknown
  /** The time that the load took, ms. */
  readonly loadTime: number
  readonly tags: readonly string[]
  /** A store that encodes refuses a value of more bytes than this. Default: no limit but the store's own. */
  readonly maxBytes?: number | undefined
}

/**
 * A cached value as this process sees it: every moment is on the process's own monotonic clock, so no host's
 * time of day matters. Copy one by `makeEntry`: its members may be getters, which a spread leaves out.
 */
export interface Entry {
  readonly value: unknown
  /**
   * The bytes that a shared store decoded `value` from. The engine decodes them again: callers that join one
   * read get a value each.
   */
  readonly encoded?: Buffer | undefined
  readonly version: Version
  /** The moment of its commit. */
  readonly committedAt: number
  /** The end of its freshness; the stale windows count from here. */
  readonly freshUntil: number
  /**
   * Expired by `expire()`, which marks its version (`expiredVersion`), or by `expireTags()`, which leaves its
   * version: never fresh, whatever a clock says.
   */
  readonly expired: boolean
  readonly staleWhileRevalidate: number
  readonly staleIfError: number
  /** The time that its load took, ms. */
  readonly loadTime: number
  readonly tags: readonly string[]
  /** The tag sequence before its load began: the entry is good for a tag whose number is at most this. */
  readonly tagSeq: number
  /**
   * The size of its value in the store, in bytes: encoded in a shared store, as measured in a memory store.
   */
  readonly size: number
  /** The origin of this copy: the store itself, the near cache, or the copies kept for an outage. */
  readonly from: 'store' | 'near' | 'outage'
  /**
   * The promise of the value that all hits return. The engine makes it at the first hit; a store ignores it.
   */
  promised?: Promise<unknown> | undefined
  /** True once a caller has `value`, of an entry with `encoded`. The engine sets it; a store ignores it. */
  taken?: boolean | undefined
}

/** The part of an entry that the load decides. */
export type EntryContent = Pick<Entry, 'value' | 'encoded' | 'staleWhileRevalidate' | 'staleIfError' | 'tags'>

/** The part of an entry that belongs to one write at the store. */
export type EntryState = Pick<
  Entry,
  'version' | 'committedAt' | 'freshUntil' | 'expired' | 'loadTime' | 'tagSeq' | 'size'
>

/**
 * A class, as each state of a hit is one: V8 never allocates what is made by `new` among the old objects
 * (docs/decisions/0013).
 */
class ReadEntry implements Entry {
  readonly value: unknown
  readonly encoded: Buffer | undefined
  readonly version: Version
  readonly committedAt: number
  readonly freshUntil: number
  readonly expired: boolean
  readonly staleWhileRevalidate: number
  readonly staleIfError: number
  readonly loadTime: number
  readonly tags: readonly string[]
  readonly tagSeq: number
  readonly size: number
  readonly from: Entry['from']
  promised: Promise<unknown> | undefined = undefined
  taken = false

  constructor(content: EntryContent, state: EntryState, from: Entry['from']) {
    this.value = content.value
    this.encoded = content.encoded
    this.version = state.version
    this.committedAt = state.committedAt
    this.freshUntil = state.freshUntil
    this.expired = state.expired
    this.staleWhileRevalidate = content.staleWhileRevalidate
    this.staleIfError = content.staleIfError
    this.loadTime = state.loadTime
    this.tags = content.tags
    this.tagSeq = state.tagSeq
    this.size = state.size
    this.from = from
  }
}

/**
 * Makes the entry of a record that a store has read. V8 frees it early, as it does not free an
 * object literal.
 *
 * @example
 * import { makeEntry } from '@cattlegrid/core/extend'
 *
 * const content = { value: 129, encoded: Buffer.from('129'), staleWhileRevalidate: 0, staleIfError: 0, tags: [] }
 * const state = { version: '0017', committedAt: 0, freshUntil: 60_000, expired: false, loadTime: 12, tagSeq: 0, size: 3 }
 * const entry = makeEntry(content, state, 'store')
 */
export function makeEntry(content: EntryContent, state: EntryState, from: Entry['from']): Entry {
  return new ReadEntry(content, state, from)
}

/**
 * The state of an entry that is written at `now`. Whole ms: V8 allocates an object for a number with
 * a fraction.
 */
export function writtenState(
  { ttl, loadTime }: NewEntry,
  { version, tagSeq, size }: Pick<EntryState, 'version' | 'tagSeq' | 'size'>,
  now: number,
): EntryState {
  const committedAt = Math.floor(now)
  const freshUntil = committedAt + Math.floor(ttl)
  return { version, committedAt, freshUntil, expired: false, loadTime: Math.ceil(loadTime), tagSeq, size }
}

/** The same entry as a copy that is kept elsewhere. */
export function copyOf(entry: Entry, from: Entry['from']): Entry {
  return makeEntry(entry, entry, from)
}

/** The time since the commit, ms. A coarse clock may be behind the commit. */
export function ageOf({ committedAt }: Entry, now: number): number {
  return Math.max(0, now - committedAt)
}

/**
 * The time until the entry stops being fresh, ms; below 0 for the time since. It never contradicts `fresh`,
 * the verdict on the entry.
 */
export function freshForOf({ freshUntil }: Entry, fresh: boolean, now: number): number {
  return fresh ? Math.max(0, freshUntil - now) : Math.min(0, freshUntil - now)
}

/** The promise of the value: one for all hits, because making one is a good part of what a hit costs. */
export function promiseOf(entry: Entry): Promise<unknown> {
  return entry.promised ?? makePromise(entry)
}

function makePromise(entry: Entry): Promise<unknown> {
  const promise = runDetached(() => Promise.resolve(entry.value))
  // A store may freeze the entries that it returns.
  if (Object.isExtensible(entry)) entry.promised = promise
  return promise
}

/**
 * Makes plain objects and arrays read-only, at every depth; anything else, such as bytes, a Map or a Date,
 * stays as it is.
 */
export function deepFreeze(value: unknown): void {
  const found = new Set<unknown>([value])
  // The loop also visits what it adds.
  for (const next of found) {
    if (!isPlain(next)) continue
    Object.freeze(next)
    for (const key of Reflect.ownKeys(next)) found.add(Object.getOwnPropertyDescriptor(next, key)?.value)
  }
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null || Array.isArray(value)
}
