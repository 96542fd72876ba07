import type { Codec } from '../codec.ts'
import type { Entry, NewEntry, Version } from '../entry.ts'
import type { Failure } from '../errors.ts'

/** The store did not answer: a value, never an exception, so that no caller can forget it. */
export interface Away {
  readonly kind: 'away'
  readonly why: 'deadline' | 'breaker' | 'error'
  readonly cause: unknown
}

/** The answer that stands for an error of the store. */
export function awayBecause(cause: unknown): Away {
  return { kind: 'away', why: 'error', cause }
}

export type Read = Found | Missing | Away

export interface Found {
  readonly kind: 'found'
  readonly entry: Entry
  /** Present when the entry is this process's own copy, because the store is away: the store's answer. */
  readonly away?: Away | undefined
}

export interface Missing {
  readonly kind: 'missing'
  readonly version: Version
  /** Present when the bytes at the key are no entry of this library, or could not be decoded. */
  readonly because?: Unreadable | undefined
  /** Present when the store is away and this process has no copy: the store's answer. */
  readonly away?: Away | undefined
}

export interface Unreadable {
  readonly why: 'foreign' | 'undecodable'
  readonly cause: unknown
}

export interface AcquireRequest {
  /** How long the lease lives unless renewed, ms. */
  readonly duration: number
  /** The version that the caller read: another one at the store means that somebody committed since. */
  readonly seen: Version
  /** Whether the caller will wait: the holder then announces the end of its lease. */
  readonly wake: boolean
  /** Whether the load may name tags: the store then keeps the present tag sequence with the lease. */
  readonly tags: boolean
  /** True when the call's read found the store away: the store is not asked again. Default: false. */
  readonly away?: boolean | undefined
  /** The part of `storeTimeout` that the call has already used, ms. Default: 0. */
  readonly spent?: number | undefined
}

export type Acquire =
  | { readonly kind: 'lead'; readonly lease: Lease }
  | { readonly kind: 'held'; readonly remaining: number }
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

export type Commit = { readonly kind: 'stored'; readonly version: Version } | Unkeepable | Refused | Away

/** How a lease ends without a commit. */
export type Ending =
  | { readonly kind: 'handover' }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly cooldown: number; readonly attempts: number }
  | { readonly kind: 'uncacheable'; readonly for: number; readonly share: boolean }

/** How long a store keeps the count of failures after the cooldown, ms: a key that is asked for once a minute must still back off. */
export function failureCountLifetime(cooldown: number): number {
  return Math.max(60_000, 2 * cooldown)
}

export type Notice =
  | { readonly kind: 'committed' | 'released' | 'deleted' | 'expired'; readonly key: string }
  | { readonly kind: 'tags'; readonly tags: readonly string[]; readonly tagSeq: number }
  /** Every entry was removed; notices may be lost from now on (`disconnected`); notices arrive again (`connected`). */
  | { readonly kind: 'cleared' | 'disconnected' | 'connected' }
  /** The store is not asked for a while, because it did not answer (`away`); it answers again (`back`). */
  | { readonly kind: 'away' | 'back' }
  /** A problem that a person should know of, with the cure in the message. */
  | { readonly kind: 'warning'; readonly message: string }

/** Everything the store knows of a key, for people. */
export interface Inspection {
  readonly kind: 'found'
  readonly entry: Entry | undefined
  readonly lease: { readonly heldFor: number; readonly remaining: number; readonly awaited: boolean } | undefined
  readonly cooldown: { readonly remaining: number; readonly attempts: number; readonly failure: Failure } | undefined
}

export type Done = { readonly kind: 'done' } | Away
export type Renewed = { readonly kind: 'renewed' } | Refused | Away
export type Released = { readonly kind: 'released' } | Refused | Away
export type Put = { readonly kind: 'stored'; readonly version: Version } | Unkeepable | Away
/** `tagSeq`: the new number of the tags. */
export type TagsFallen = { readonly kind: 'done'; readonly tagSeq: number } | Away
export type Cleared = { readonly kind: 'cleared'; readonly entries: number } | Away

/** The present number of each tag; undefined where the store has lost it, so that nobody knows whether the tag was invalidated. */
export interface TagNumbersRead {
  readonly kind: 'numbers'
  readonly numbers: readonly (number | undefined)[]
}

/**
 * Where entries and leases live. Each step is atomic at the store. No step throws or rejects: a problem is an answer.
 * `describeStoreContract` of `@cattlegrid/testkit` tests a store against this interface.
 */
export interface Store {
  /** Whether other processes see it: only then do calls wait for their loads. */
  readonly shared: boolean
  /** The entry, where this process has it in memory: synchronous, so that a hit awaits nothing. `now`: the time by which the hit is judged, ms. */
  peek(key: string, codec: Codec, now: number): Entry | undefined
  /** Reads the entry. A shared store does not judge its tags: its reader does, by `tagNumbers`. */
  read(key: string, codec: Codec): Promise<Read>
  /** Asks for the lease of the key. */
  acquire(key: string, request: AcquireRequest): Promise<Acquire>
  /** Moves the end of a lease to `duration` ms from now. */
  renew(lease: Lease, duration: number): Promise<Renewed>
  /** Writes the entry and gives the lease back, only while the lease is the holder's. `away` means unknown, never stored. */
  commit(lease: Lease, entry: NewEntry, codec: Codec): Promise<Commit>
  /** Ends a lease without a write, only while the lease is the holder's. */
  release(lease: Lease, ending: Ending): Promise<Released>
  /** Writes without a lease and voids a running one: newer than every load that began before. */
  put(key: string, entry: NewEntry, codec: Codec): Promise<Put>
  /**
   * Removes the entry, or keeps it as stale, and voids a running lease, a cooldown and an uncacheable mark. For `holdOff` ms
   * nothing is stored.
   */
  invalidate(key: string, how: 'delete' | 'expire', holdOff: number): Promise<Done>
  /** Makes every entry with one of the tags unusable; the entry of a load with one of them that began before is not stored. */
  invalidateTags(tags: readonly string[]): Promise<TagsFallen>
  /** The numbers that judge an entry's tags: one greater than the entry's `tagSeq` means that the tag was invalidated since its load began. */
  tagNumbers(tags: readonly string[]): Promise<TagNumbersRead | Away>
  /** Removes everything; not atomic where there are several nodes. */
  clear(): Promise<Cleared>
  /** What the store knows of the key. */
  inspect(key: string): Promise<Inspection | Away>
  /** Answers `done` when the store can be reached. */
  ping(): Promise<Done>
  /** Calls `listener` for every change at the store, made by any process, until the returned function is called. */
  watch(listener: (notice: Notice) => void): () => void
  /** Ends what the store holds open, such as connections of its own. */
  close(): Promise<void>
}

/** The right to refresh one key, as the process that holds it knows it. */
export interface Lease {
  readonly key: string
  /** Proves the holder: only it may renew, commit or release. */
  readonly token: string
  /** How many loads of the key failed in a row before this one. */
  readonly attempts: number
  /** When the acquire was sent, on the holder's monotonic clock: the lease cannot end earlier than `duration` after this moment. */
  readonly sentAt: number
}
