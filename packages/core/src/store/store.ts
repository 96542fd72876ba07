import type { Codec } from '../codec/codec.ts'
import type { Entry, NewEntry, Version } from '../entry.ts'
import type { Failure } from '../errors.ts'
import type { Board, Post } from './board.ts'
import type { RefreshRequest } from './refresh-quota.ts'
import type {
  Away,
  Read,
  Acquire,
  Commit,
  Inspection,
  Done,
  Renewed,
  Released,
  Put,
  TagsInvalidated,
  RefreshPermitted,
  Cleared,
  TagNumbersRead,
  Lease,
} from './answers.ts'

/** The terms of a read; a store may ignore them. */
export interface ReadTerms {
  /** The moment from which `storeTimeout` counts, by `elapsed()`. Default: the read itself. */
  readonly since?: number | undefined
  /**
   * Called when the read is about to be sent: a call that comes later must not share its answer. A read with
   * it is not sent before the next microtask.
   */
  onSend?(): void
}

/** The terms of an acquire. */
export interface AcquireRequest {
  /** The length of the lease unless it is renewed, ms. */
  readonly duration: number
  /**
   * The version that the caller read, `NO_VERSION` if none: if the store's differs, the answer is `changed`.
   */
  readonly seen: Version
  /** True when the caller will wait if the lease is held: the store then sends a notice at its end. */
  readonly wake: boolean
  /** A cooldown with more than this left, ms, has ended for this caller. Default: no limit. */
  readonly maxCooldown?: number | undefined
  /** The store must not execute the acquire later than this after it was sent, ms. Default: no limit. */
  readonly within?: number | undefined
  /** Returns true once nobody waits for the answer: the acquire is then not sent again. Default: never. */
  readonly isAbandoned?: (() => boolean) | undefined
  /** True when the call's read found the store away: the store is not asked again. Default: false. */
  readonly away?: boolean | undefined
  /**
   * The moment from which `storeTimeout` counts, by `elapsed()`: the call sent its read. Default: the
   * acquire itself.
   */
  readonly since?: number | undefined
}

/**
 * The end of a lease without a commit: it is free again (`handover`), or the key cools down or is
 * uncacheable; times in ms. `uncacheable` removes the entry, too; with `for` 0 it leaves no mark.
 */
export type Ending =
  | { readonly kind: 'handover' }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly cooldown: number; readonly attempts: number }
  | { readonly kind: 'uncacheable'; readonly for: number; readonly share: boolean }

/**
 * A change at the store, made by any process, or a change of the connection to it. Delivered at most once: it
 * may be lost.
 */
export type Notice =
  /** `released`: the lease ended without a commit, while a caller waited for it. */
  | { readonly kind: 'committed' | 'released' | 'deleted' | 'expired'; readonly key: string }
  /**
   * `expire`: the entries that carry one of the tags are stale now; `delete`: they are unusable, or, after an
   * expiry with an end, to be judged by the numbers of their tags.
   */
  | {
      readonly kind: 'tags'
      readonly tags: readonly string[]
      readonly tagSeq: number
      readonly how: 'delete' | 'expire'
    }
  /** Every entry was removed. */
  | { readonly kind: 'cleared' }
  /**
   * Notices may be lost from now on (`disconnected`), or arrive from now on (`connected`): a shared store
   * also says so to each new listener.
   */
  | { readonly kind: 'disconnected' | 'connected'; readonly part?: string | undefined }
  /**
   * Steps are not sent, because the store did not answer or there is no connection (`away`, whose `cause` is
   * the last error); they are sent again (`back`).
   */
  | { readonly kind: 'away' | 'back'; readonly part?: string | undefined; readonly cause?: unknown }
  /**
   * An operator has paused all processes for `remaining` ms from now; 0: no more. A store that keeps this
   * also says so to each new listener, and when it is connected again.
   */
  | { readonly kind: 'paused'; readonly remaining: number }
  /** A problem for an operator; the message names the remedy. */
  | { readonly kind: 'warning'; readonly message: string }

/**
 * A part of a store that fails apart from the others, such as one node of a cluster: it has its own circuit
 * breaker and bulkhead.
 */
export interface StorePart {
  /**
   * Such as the address of the node. A notice names its part by it; one without a part is about the
   * whole store.
   */
  readonly name: string
  /**
   * Returns true while notices about a key of this part arrive: only then may a copy of its entry be kept.
   */
  receivesNotices(key: string): boolean
  /** Answers `done` when the part can be reached, or holds nothing any more. */
  ping(): Promise<Done>
}

/**
 * A store of entries and leases. Each step is atomic at the store. No step throws or rejects: a problem is an
 * answer. `describeStoreContract` of `@cattlegrid/testkit` tests a store against this interface.
 */
export interface Store {
  /**
   * True when other processes use it too: only then is it asked within a deadline, and copied in
   * this process.
   */
  readonly shared: boolean
  /**
   * Resolves once the first connection to the store stands or has failed: until then, steps wait for it
   * within `storeTimeout`. Undefined from then on. A store without it is sent its steps at once.
   */
  readonly starting?: Promise<void> | undefined
  /**
   * Returns the part that holds the entry and the lease of a key, the tag numbers, or the refresh budget.
   * Absent: the store is one part.
   */
  readonly partOf?: ((what: 'entry' | 'tags' | 'refreshes', key?: string) => StorePart) | undefined
  /**
   * Returns the entry if this process has it in memory: synchronous, so that a hit awaits nothing. `now`: the
   * time by which the hit is judged, ms.
   */
  peek(key: string, codec: Codec, now: number): Entry | undefined
  /** Reads the entry. A shared store does not judge its tags: its reader does, by `tagNumbers`. */
  read(key: string, codec: Codec, terms?: ReadTerms): Promise<Read>
  /**
   * Grants the lease of the key, if it is free and the entry's version is `request.seen`; else answers with
   * the reason. An entry that is gone has changed, too: the caller would hand it to its loader as the value
   * to replace.
   */
  acquire(key: string, request: AcquireRequest): Promise<Acquire>
  /** Moves the end of a lease to `duration` ms from now. */
  renew(lease: Lease, duration: number): Promise<Renewed>
  /**
   * Writes the entry and gives the lease back, only while the lease is the holder's. Sends a notice if a
   * caller waits, or the replaced entry was fresh. `away` means unknown, never stored. A store with a time
   * limit calls `onSlow` when callers must no longer wait for the answer, which may still come.
   */
  commit(lease: Lease, entry: NewEntry, codec: Codec, onSlow?: () => void): Promise<Commit>
  /**
   * Ends a lease without a write, only while the lease is the holder's. Sends a notice if a caller waits, or
   * a fresh entry was removed.
   */
  release(lease: Lease, ending: Ending): Promise<Released>
  /**
   * Writes without a lease and voids a running one: newer than every load that began before. `isAbandoned`
   * returns true once nobody waits for the answer: a store that writes in several steps then sends no further
   * one. The store must not execute the write later than `within` ms after it was sent: no token guards it,
   * and a connection that was given up may deliver it late. Default: no limit.
   */
  put(key: string, entry: NewEntry, codec: Codec, isAbandoned?: () => boolean, within?: number): Promise<Put>
  /**
   * Removes the entry, or keeps it as stale, and voids a running lease, a cooldown and an uncacheable mark.
   * For `holdOff` ms nothing is stored; a longer hold-off that runs stays.
   */
  invalidate(key: string, how: 'delete' | 'expire', holdOff: number): Promise<Done>
  /**
   * `delete` makes every entry with one of the tags unusable; the entry of a load with one of them that began
   * before is not stored. `expire` makes them stale, and also the entry of such a load, which is stored;
   * `deleteAfter` ms later they are unusable, whatever follows. Neither ends a lease.
   */
  invalidateTags(tags: readonly string[], how: 'delete' | 'expire', deleteAfter?: number): Promise<TagsInvalidated>
  /**
   * Reads the number of each tag: one greater than an entry's `tagSeq` means that the tag was invalidated, or
   * expired, since the entry's load began. `since`: the moment from which a time limit counts, by
   * `elapsed()`. Default: now.
   */
  tagNumbers(tags: readonly string[], since?: number): Promise<TagNumbersRead | Away>
  /**
   * Grants the permit of a background refresh, within limits that all processes share. A process that dies
   * holds its permit for `holdFor`.
   */
  permitRefresh(request: RefreshRequest): Promise<RefreshPermitted>
  /**
   * Ends a permit, also one that was granted without an answer. `unused`: nothing was loaded, so its share of
   * the rate is given back.
   */
  endRefresh(request: RefreshRequest, unused: boolean): Promise<Done>
  /**
   * Puts a text on a board and reads those of all processes, in one atomic step. Boards are no entries:
   * `clear` keeps them.
   */
  post(post: Post): Promise<Board | Away>
  /**
   * Removes everything; not atomic where there are several nodes. A store that clears in several steps asks
   * `isAbandoned` before each: that tells that the one before was answered, so that each has a time limit of
   * its own; once it returns true, the store sends no further one.
   */
  clear(isAbandoned?: () => boolean): Promise<Cleared>
  /** Reads the state of the key, for diagnosis. */
  inspect(key: string): Promise<Inspection | Away>
  /** Answers `done` when the store can be reached. */
  ping(): Promise<Done>
  /**
   * Calls `listener` for every change at the store, made by any process, until the returned function
   * is called.
   */
  watch(listener: (notice: Notice) => void): () => void
  /**
   * Releases the store's own resources, such as connections. Of the caches that use a shared store, the last
   * one calls it.
   */
  close(): Promise<void>
}
