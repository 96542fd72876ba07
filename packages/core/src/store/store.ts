import type { Codec } from '../codec/codec.ts'
import type { Entry, NewEntry, Version } from '../entry.ts'
import type { Failure } from '../errors.ts'
import type { Answers } from '../history/exchange.ts'
import type { InspectedLease, LeaseHolder } from '../history/lease-holder.ts'
import type { RefreshRequest } from './refresh-quota.ts'

/**
 * The store did not answer: a value, never an exception, so that every caller has a branch for it. `why`: no answer came in time (`deadline`), or the
 * store or its client failed (`error`). Or the step was not sent: earlier ones had no answer (`breaker`), there is no connection (`disconnected`), or
 * too many others were sent before it (`busy`).
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
 * import { awayBecause } from '@cattlegrid/core'
 *
 * const answer = await fetch('http://127.0.0.1:7000/entry').catch((error: unknown) => awayBecause(error))
 */
export function awayBecause(cause: unknown, why: Away['why'] = 'error'): Away {
  return { kind: 'away', why, cause }
}

/** Runs a step, and turns an exception into `away`: a custom store may throw against its contract, where no caller may be left to receive the error. */
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

/** The problem of bytes that are no entry of this library (`foreign`), or that the codec could not decode (`undecodable`). */
export interface Unreadable {
  readonly why: 'foreign' | 'undecodable'
  readonly cause: unknown
}

/** The terms of an acquire. */
export interface AcquireRequest {
  /** The length of the lease unless it is renewed, ms. */
  readonly duration: number
  /** The version that the caller read, `NO_VERSION` if none: if the store's differs, the answer is `changed`. */
  readonly seen: Version
  /** True when the caller will wait if the lease is held: the store then sends a notice at its end. */
  readonly wake: boolean
  /** A cooldown with more than this left, ms, has ended: the store's clock was set back. Default: no limit. */
  readonly maxCooldown?: number | undefined
  /** True when the call's read found the store away: the store is not asked again. Default: false. */
  readonly away?: boolean | undefined
  /** The moment from which `storeTimeout` counts, by `now()`: the call sent its read. Default: the acquire itself. */
  readonly since?: number | undefined
}

/**
 * The answer to an acquire; `remaining` in ms. `lead`: the lease is granted. `held`: another caller, which a store may name, holds it. `cooling`: the last load failed.
 * `uncacheable`: the last load was not to be stored. `held-off`: a value loaded now would not be stored. `changed`: the version is another one.
 */
export type Acquire =
  | { readonly kind: 'lead'; readonly lease: Lease }
  | { readonly kind: 'held'; readonly remaining: number; readonly holder?: LeaseHolder | undefined }
  | { readonly kind: 'cooling'; readonly remaining: number; readonly attempts: number; readonly failure: Failure }
  | { readonly kind: 'uncacheable'; readonly remaining: number; readonly share: boolean }
  | { readonly kind: 'held-off'; readonly remaining: number }
  | { readonly kind: 'changed' }
  | Away

/** The lease is no longer the holder's: it expired, was voided, or another process holds one; or a tag was invalidated during the load. */
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

/** The end of a lease without a commit: it is free again (`handover`), or the key cools down or is uncacheable; times in ms. */
export type Ending =
  | { readonly kind: 'handover' }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly cooldown: number; readonly attempts: number }
  | { readonly kind: 'uncacheable'; readonly for: number; readonly share: boolean }

/** A change at the store, made by any process, or a change of the connection to it. Delivered at most once: it may be lost. */
export type Notice =
  /** `released`: the lease ended without a commit, while a caller waited for it. */
  | { readonly kind: 'committed' | 'released' | 'deleted' | 'expired'; readonly key: string }
  /** `expire`: the entries that carry one of the tags are stale now; `delete`: they are unusable. */
  | {
      readonly kind: 'tags'
      readonly tags: readonly string[]
      readonly tagSeq: number
      readonly how: 'delete' | 'expire'
    }
  /** Every entry was removed. */
  | { readonly kind: 'cleared' }
  /** Notices may be lost from now on (`disconnected`), or arrive from now on (`connected`): a shared store also says so to each new listener. */
  | { readonly kind: 'disconnected' | 'connected'; readonly part?: StorePart | undefined }
  /** The store is not asked for a while, because it did not answer (`away`); it answers again (`back`). */
  | { readonly kind: 'away' | 'back'; readonly part?: StorePart | undefined }
  /** A problem for an operator; the message names the remedy. */
  | { readonly kind: 'warning'; readonly message: string }

/** A part of a store, such as one node of a cluster. Where a notice names none, it is about the whole store. */
export interface StorePart {
  /** For people, such as the node's address. */
  readonly name: string
  /** True for a key whose entry is there. */
  includes(key: string): boolean
}

/**
 * The nodes of a store that is spread over several servers. They fail apart: each has a circuit breaker and a bounded number of steps in flight of its
 * own. A node is named by its address.
 */
export interface StoreNodes {
  /** The node of the key's entry and lease. */
  ofKey(key: string): string
  /** The node of the tag numbers. */
  ofTags(): string
  /** The node of the refresh budget. */
  ofRefreshBudget(): string
  /** Answers `done` when the node can be reached, or no key is on it any more. */
  ping(node: string): Promise<Done>
}

/** The state of a key, for diagnosis. Times in ms. `invalidatedTags`: there is no `entry`, because these tags of it were invalidated. */
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
/** The answer to the request for a refresh; `retryAfter`, ms: until then no request of this process would be granted. */
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
}

/** The present number of each tag, in the order asked for; undefined for a number that the store has lost: the tag then counts as invalidated. */
export interface TagNumbersRead {
  readonly kind: 'numbers'
  readonly numbers: readonly (TagNumber | undefined)[]
}

/**
 * A store of entries and leases. Each step is atomic at the store. No step throws or rejects: a problem is an answer.
 * `describeStoreContract` of `@cattlegrid/testkit` tests a store against this interface.
 */
export interface Store {
  /** True when other processes use it too: only then is it asked within a deadline, and copied in this process. */
  readonly shared: boolean
  /** Absent: the store is one node. */
  readonly nodes?: StoreNodes | undefined
  /**
   * Returns true while notices about the key arrive. A store that subscribes by parts begins to subscribe when it is asked about a key for the first time.
   * Absent: the notices of every key arrive while the store is connected.
   */
  readonly hears?: ((key: string) => boolean) | undefined
  /** Returns the entry if this process has it in memory: synchronous, so that a hit awaits nothing. `now`: the time by which the hit is judged, ms. */
  peek(key: string, codec: Codec, now: number): Entry | undefined
  /** Reads the entry. A shared store does not judge its tags: its reader does, by `tagNumbers`. */
  read(key: string, codec: Codec): Promise<Read>
  /**
   * Grants the lease of the key, if it is free and the entry's version is `request.seen`; else answers with the reason. An entry that is gone has
   * changed, too: the caller would hand it to its loader as the value to replace.
   */
  acquire(key: string, request: AcquireRequest): Promise<Acquire>
  /** Moves the end of a lease to `duration` ms from now. */
  renew(lease: Lease, duration: number): Promise<Renewed>
  /**
   * Writes the entry and gives the lease back, only while the lease is the holder's. `away` means unknown, never stored. A store with a time limit calls
   * `onSlow` when callers must no longer wait for the answer, which may still come.
   */
  commit(lease: Lease, entry: NewEntry, codec: Codec, onSlow?: () => void): Promise<Commit>
  /** Ends a lease without a write, only while the lease is the holder's. */
  release(lease: Lease, ending: Ending): Promise<Released>
  /**
   * Writes without a lease and voids a running one: newer than every load that began before. `isAbandoned` returns true once nobody waits for the
   * answer: a store that writes in several steps then sends no further one.
   */
  put(key: string, entry: NewEntry, codec: Codec, isAbandoned?: () => boolean): Promise<Put>
  /**
   * Removes the entry, or keeps it as stale, and voids a running lease, a cooldown and an uncacheable mark. For `holdOff` ms
   * nothing is stored; a longer hold-off that runs stays.
   */
  invalidate(key: string, how: 'delete' | 'expire', holdOff: number): Promise<Done>
  /**
   * `delete` makes every entry with one of the tags unusable; the entry of a load with one of them that began before is not stored. `expire` makes them
   * stale, and also the entry of such a load, which is stored. Neither ends a lease.
   */
  invalidateTags(tags: readonly string[], how: 'delete' | 'expire'): Promise<TagsInvalidated>
  /**
   * Reads the number of each tag: one greater than an entry's `tagSeq` means that the tag was invalidated, or expired, since the entry's load began.
   * `since`: the moment from which a time limit counts, by `now()`. Default: now.
   */
  tagNumbers(tags: readonly string[], since?: number): Promise<TagNumbersRead | Away>
  /** Grants the permit of a background refresh, within limits that all processes share. A process that dies holds its permit for `holdFor`. */
  permitRefresh(request: RefreshRequest): Promise<RefreshPermitted>
  /** Ends a permit, also one that was granted without an answer. `unused`: nothing was loaded, so its share of the rate is given back. */
  endRefresh(request: RefreshRequest, unused: boolean): Promise<Done>
  /** Removes everything; not atomic where there are several nodes. */
  clear(): Promise<Cleared>
  /** Reads the state of the key, for diagnosis. */
  inspect(key: string): Promise<Inspection | Away>
  /** Answers `done` when the store can be reached. */
  ping(): Promise<Done>
  /**
   * For diagnosis, with `askProcesses`: calls `answer` for each question of another process, until the returned function is called. An answer of undefined is not sent. Absent: a
   * cache explains a key, and lists hot keys, by what its own process remembers.
   */
  readonly answerQuestions?: ((answer: (question: string) => string | undefined) => () => void) | undefined
  /** Asks the other processes, those of this process's caches included. Waits for `timeout` ms, or until all have answered. Nothing may be kept for it while nobody asks. */
  readonly askProcesses?: ((question: string, timeout: number) => Promise<Answers | Away>) | undefined
  /** Calls `listener` for every change at the store, made by any process, until the returned function is called. */
  watch(listener: (notice: Notice) => void): () => void
  /** Releases the store's own resources, such as connections. Of the caches that use a shared store, the last one calls it. */
  close(): Promise<void>
}

/** The right to refresh one key, as the process that holds it knows it. */
export interface Lease {
  readonly key: string
  /** Proves the holder: only it may renew, commit or release. */
  readonly token: string
  /** The number of loads of the key that failed in a row before this one. */
  readonly attempts: number
  /** The tag sequence at the grant. Undefined from a store that judges tags itself: its acquire sees that the entry is gone. */
  readonly tagSeq?: number | undefined
  /** The moment at which the acquire was sent, on the holder's monotonic clock, ms: the lease ends no earlier than `duration` after it. */
  readonly sentAt: number
}
