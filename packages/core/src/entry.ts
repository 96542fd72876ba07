import { runDetached } from './runtime.ts'

/**
 * The identity of an entry at its store: compared for equality, never ordered. A shared store returns the raw bytes that stand at that
 * place, one character a byte, also of a record that is not ours, so that an acquire can tell "changed since I looked".
 */
export type Version = string

/** Nothing was there. */
export const NO_VERSION: Version = ''

/** The version of an entry that was expired by hand. */
export const EXPIRED_BY_HAND: Version = '0'.repeat(16)

/** A stale window travels as 32-bit milliseconds: 49 days. */
export const LONGEST_WINDOW: number = 2 ** 32 - 1

/** The moments that rule an entry from its commit on; all ms. */
export interface Windows {
  /** Fresh for this long, jitter already taken off. */
  readonly ttl: number
  /** After `ttl`: may be served at once while one leader refreshes behind. */
  readonly staleWhileRevalidate: number
  /** After `ttl`: may be served when a load fails, is slow, or the key is cooling. */
  readonly staleIfError: number
}

/** What a leader or a `set` hands to the store. */
export interface NewEntry extends Windows {
  readonly value: unknown
  /** How long the load took, ms. */
  readonly loadTime: number
  readonly tags: readonly string[]
  /** A store that encodes does not keep what becomes more bytes than this. Default: no limit but the store's own. */
  readonly maxBytes?: number | undefined
}

/** A cached value as this process sees it: every moment is on the process's own monotonic clock, so no host's time of day matters. */
export interface Entry {
  readonly value: unknown
  readonly version: Version
  /** When it was committed. */
  readonly committedAt: number
  /** When it stops being fresh; the stale windows count from here. */
  readonly freshUntil: number
  /** Expired by hand: never fresh, whatever a clock says. */
  readonly expired: boolean
  readonly staleWhileRevalidate: number
  readonly staleIfError: number
  /** How long its load took, ms. */
  readonly loadTime: number
  readonly tags: readonly string[]
  /** Where the tag sequence stood before its load began: it is good for a tag whose number is at most this. */
  readonly tagSeq: number
  /** Encoded, in bytes; 1 where nothing is measured. */
  readonly size: number
  /** Which copy this is: the store's own, the near cache's, or the one kept for an outage. */
  readonly from: 'store' | 'near' | 'outage'
  /** The value as the promise that all its hits return. The engine makes it at the first hit; a store has nothing to do with it. */
  promised?: Promise<unknown> | undefined
}

/**
 * The entry as it is kept elsewhere, and not yet hit there. Every member by name: a spread copy is laid out in several
 * pieces, and a hit of one took half as long again.
 */
export function copyOf(entry: Entry, from: Entry['from']): Entry {
  return {
    value: entry.value,
    version: entry.version,
    committedAt: entry.committedAt,
    freshUntil: entry.freshUntil,
    expired: entry.expired,
    staleWhileRevalidate: entry.staleWhileRevalidate,
    staleIfError: entry.staleIfError,
    loadTime: entry.loadTime,
    tags: entry.tags,
    tagSeq: entry.tagSeq,
    size: entry.size,
    from,
    promised: undefined,
  }
}

/** One for all hits of the entry, because making one is a good part of what a hit costs. */
export function promiseOf(entry: Entry): Promise<unknown> {
  return entry.promised ?? promise(entry)
}

function promise(entry: Entry): Promise<unknown> {
  const made = runDetached(() => Promise.resolve(entry.value))
  // A store may have frozen what it hands out.
  if (Object.isExtensible(entry)) entry.promised = made
  return made
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null || Array.isArray(value)
}

/** Makes plain objects and arrays read-only, as deep as they go; what is no plain data, such as bytes, a Map or a Date, stays as it is. */
export function deepFreeze(value: unknown): void {
  const met = new Set<unknown>([value])
  // What is added while the loop runs is met by it, too.
  for (const next of met) {
    if (!isPlain(next)) continue
    Object.freeze(next)
    for (const key of Reflect.ownKeys(next)) met.add(Object.getOwnPropertyDescriptor(next, key)?.value)
  }
}
