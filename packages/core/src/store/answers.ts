import type { Entry, Unreadable, Version } from '../entry.ts'
import type { Failure } from '../errors.ts'
import type { InspectedLease, LeaseHolder } from '../events/lease-holder.ts'

/**
 * The store did not answer: a value, never an exception, so that every caller has a branch for it. `why`: no
 * answer came in time (`deadline`), or the store or its client failed (`error`). Or the step was not sent:
 * earlier ones had no answer (`breaker`), there is no connection (`disconnected`), or too many others were
 * sent before it (`busy`).
 */
export interface Away {
  readonly kind: 'away'
  readonly why: 'deadline' | 'error' | 'breaker' | 'disconnected' | 'busy'
  /** The error, for events and for `StoreAwayError`. */
  readonly cause: unknown
}

/**
 * The answer that stands for an error of the store.
 *
 * @example
 * import { awayBecause } from '@cattlegrid/core/extend'
 *
 * const answer = await fetch('http://127.0.0.1:7000/entry').catch((error: unknown) => awayBecause(error))
 */
export function awayBecause(cause: unknown, why: Away['why'] = 'error'): Away {
  return { kind: 'away', why, cause }
}

/**
 * Runs a step, and turns an exception into `away`: a custom store may throw against its contract, where no
 * caller may be left to receive the error.
 */
export function answerOf<T>(step: () => Promise<T>): Promise<T | Away> {
  try {
    return Promise.resolve(step()).catch((cause: unknown) => awayBecause(cause))
  } catch (cause) {
    return Promise.resolve(awayBecause(cause))
  }
}

/** The answer of a step; `away` for none: a custom store may return nothing, against its contract. */
export function answerIn<T>(returned: T | undefined): T | Away {
  return returned ?? awayBecause(new TypeError('The store returned no answer'))
}

/** The answer to a read. */
export type Read = Found | Missing | Away

/** An entry, fresh or stale: the reader judges its windows. */
export interface Found {
  readonly kind: 'found'
  readonly entry: Entry
  /** Present when the entry is this process's own copy, because the store is away: the store's answer. */
  readonly away?: Away | undefined
}

/** The key has no entry that could be read. */
export interface Missing {
  readonly kind: 'missing'
  /** The version to acquire with: `NO_VERSION`, or that of the bytes that are no entry. */
  readonly version: Version
  /** Present when the bytes at the key are no entry of this library, or could not be decoded. */
  readonly because?: Unreadable | undefined
  /** Present when the store is away and this process has no copy: the store's answer. */
  readonly away?: Away | undefined
}

/**
 * The answer to an acquire; `remaining` in ms. `lead`: the lease is granted. `held`: another caller, which a
 * store may name, holds it. `cooling`: the last load failed. `uncacheable`: the last load was not to be
 * stored. `held-off`: a value loaded now would not be stored. `changed`: the version is another one.
 */
export type Acquire =
  | { readonly kind: 'lead'; readonly lease: Lease }
  | { readonly kind: 'held'; readonly remaining: number; readonly holder?: LeaseHolder | undefined }
  | { readonly kind: 'cooling'; readonly remaining: number; readonly attempts: number; readonly failure: Failure }
  | { readonly kind: 'uncacheable'; readonly remaining: number; readonly share: boolean }
  | { readonly kind: 'held-off'; readonly remaining: number }
  | { readonly kind: 'changed' }
  | Away

/**
 * The lease is no longer the holder's. `taken`: another lease or a mark stands in its place. Once that one
 * has ended, the answer is `expired`, or `voided` from a store that keeps no time of the end. `voided`: an
 * invalidation of the key ended it. `tag-voided`: a tag was invalidated during the load.
 */
export interface Refused {
  readonly kind: 'refused'
  readonly why: 'expired' | 'voided' | 'taken' | 'tag-voided'
}

/** The value itself cannot be stored. The lease is still the holder's, which must end it. */
export interface Unkeepable {
  readonly kind: 'unkeepable'
  readonly why: 'too-large' | 'encode-failed'
  readonly cause: unknown
}

/** The answer to a commit. */
export type Commit = { readonly kind: 'stored'; readonly version: Version } | Unkeepable | Refused | Away

/**
 * The state of a key, for diagnosis. Times in ms. `invalidatedTags`: there is no `entry`, because these tags
 * of it were invalidated.
 */
export interface Inspection {
  readonly kind: 'found'
  readonly entry: Entry | undefined
  readonly lease: InspectedLease | undefined
  readonly cooldown: { readonly remaining: number; readonly attempts: number; readonly failure: Failure } | undefined
  readonly invalidatedTags?: readonly string[] | undefined
}

/** The answer to a step without a result. */
export type Done = { readonly kind: 'done' } | Away
/** The answer to a renewal. */
export type Renewed = { readonly kind: 'renewed' } | Refused | Away
/** The answer to a release. */
export type Released = { readonly kind: 'released' } | Refused | Away
/** The answer to a put. */
export type Put = { readonly kind: 'stored'; readonly version: Version } | Unkeepable | Away
/** The answer to an invalidation of tags; `tagSeq` is the new number of each. */
export type TagsInvalidated = { readonly kind: 'done'; readonly tagSeq: number } | Away
/**
 * The answer to the request for a refresh; `retryAfter`, ms: until then no request of this process would
 * be granted.
 */
export type RefreshPermitted =
  { readonly kind: 'granted' } | { readonly kind: 'exhausted'; readonly retryAfter: number } | Away
/** The answer to a clear; `entries` is the number of entries that it removed. */
export type Cleared = { readonly kind: 'cleared'; readonly entries: number } | Away

/** The last invalidation of a tag, and its last expiry since then: numbers of the tag sequence. */
export interface TagNumber {
  /** If it is greater than an entry's `tagSeq`, the entry is unusable. */
  readonly invalidated: number
  /** If it is greater than an entry's `tagSeq`, the entry is stale. 0: there was none. */
  readonly expired: number
  /** The moment of that expiry, on this process's monotonic clock. */
  readonly expiredAt: number
  /** The moment from which such an entry is unusable, on the same clock. Infinity: the expiry has no end. */
  readonly goneAt: number
}

/**
 * The present number of each tag, in the order asked for; undefined for a number that the store has lost: the
 * tag then counts as invalidated.
 */
export interface TagNumbersRead {
  readonly kind: 'numbers'
  readonly numbers: readonly (TagNumber | undefined)[]
}

/** The right to load one key, as the process that holds it knows it. */
export interface Lease {
  readonly key: string
  /** Proves the holder: only it may renew, commit or release. */
  readonly token: string
  /** The number of loads of the key that failed in a row before this one. */
  readonly attempts: number
  /**
   * The tag sequence at the grant. Undefined from a store that judges tags itself: its acquire sees that the
   * entry is gone.
   */
  readonly tagSeq?: number | undefined
  /**
   * The moment at which the acquire was sent, by the holder's `elapsed()`, ms: the lease ends no earlier than
   * `duration` after it.
   */
  readonly sentAt: number
}
