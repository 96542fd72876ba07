import type { Codec } from '../codec.ts'
import type { Entry, NewEntry, Version } from '../entry.ts'
import type { Failure } from '../errors.ts'

/** The store did not answer: a value, never an exception, so that no road forgets it. */
export interface Away {
  readonly kind: 'away'
  readonly why: 'deadline' | 'breaker' | 'error'
  readonly cause: unknown
}

/** What went wrong at a store, as an answer. */
export function awayBecause(cause: unknown): Away {
  return { kind: 'away', why: 'error', cause }
}

export type Read = Found | Missing | Away

export interface Found {
  readonly kind: 'found'
  readonly entry: Entry
  /** It is a copy of this process's, because the store is away: what it said instead. */
  readonly away?: Away | undefined
}

export interface Missing {
  readonly kind: 'missing'
  readonly version: Version
  /** There when something stood at the key that is no entry of ours, or could not be decoded. */
  readonly because?: Unreadable | undefined
  /** Nothing is known of the store, which is away: what it said instead. */
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
  /** Whether the caller will wait: the holder then announces its ending. */
  readonly wake: boolean
  /** Whether the load may name tags: the store then notes the present tag sequence with the lease. */
  readonly tags: boolean
  /** The call's read found the store away: it is not asked again. Default: false. */
  readonly away?: boolean | undefined
  /** What the call has spent of its time for the store already, ms. Default: 0. */
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

/** Why a holder was turned away: its lease ran out or was voided, another holds one, a tag fell meanwhile. */
export interface Refused {
  readonly kind: 'refused'
  readonly why: 'expired' | 'voided' | 'taken' | 'tag-voided'
}

/** The value itself cannot be kept; the lease is still the holder's, who ends it. */
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

export type Notice =
  | { readonly kind: 'committed' | 'released' | 'deleted' | 'expired'; readonly key: string }
  | { readonly kind: 'tags'; readonly tags: readonly string[]; readonly tagSeq: number }
  /** Every entry was removed; or notices may have been lost from here on (`disconnected`); or they arrive again (`connected`). */
  | { readonly kind: 'cleared' | 'disconnected' | 'connected' }
  /** The store is not asked any more, because it did not answer (`away`); or it answers again (`back`). */
  | { readonly kind: 'away' | 'back' }
  /** Something a person should know, with the cure in the message. */
  | { readonly kind: 'warning'; readonly message: string }

/** What stands at a key, for people. */
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
/** `tagSeq`: the number that the tags have now. */
export type TagsFallen = { readonly kind: 'done'; readonly tagSeq: number } | Away
export type Cleared = { readonly kind: 'cleared'; readonly entries: number } | Away

/** The present number of each tag; undefined where the store has none any more, so that nobody knows whether it fell. */
export interface TagNumbersRead {
  readonly kind: 'numbers'
  readonly numbers: readonly (number | undefined)[]
}

/**
 * Where entries and leases live. Each step is atomic at the store; none ever throws or rejects: what went wrong is a value.
 * `describeStoreContract` of the testkit holds every store to it.
 */
export interface Store {
  /** Whether other processes see it: only then is it worth waiting for them. */
  readonly shared: boolean
  /** The entry, where it is at hand in this process: synchronous, so that a hit awaits nothing. `now`, ms: what the hit takes the time to be. */
  peek(key: string, codec: Codec, now: number): Entry | undefined
  /** A shared store leaves it to its reader to judge the entry's tags by `tagNumbers`. */
  read(key: string, codec: Codec): Promise<Read>
  acquire(key: string, request: AcquireRequest): Promise<Acquire>
  /** Moves the end of a lease to `duration` ms from now. */
  renew(lease: Lease, duration: number): Promise<Renewed>
  /** Writes the entry and gives the lease back, only while the lease is the holder's. `away` means unknown, never stored. */
  commit(lease: Lease, entry: NewEntry, codec: Codec): Promise<Commit>
  /** Ends a lease without a write, only while it is the holder's. */
  release(lease: Lease, ending: Ending): Promise<Released>
  /** Writes without a lease, and voids one that runs: newer than every load that began before it. */
  put(key: string, entry: NewEntry, codec: Codec): Promise<Put>
  /** Removes the entry, or keeps it as stale, and voids a running lease, a cooldown and an uncacheable mark. `holdOff`, ms: nothing is stored that long. */
  invalidate(key: string, how: 'delete' | 'expire', holdOff: number): Promise<Done>
  /** Makes every entry that carries one of the tags unusable, and every load that began before. */
  invalidateTags(tags: readonly string[]): Promise<TagsFallen>
  /** What the tags of an entry are judged by: one whose number is greater than the entry's `tagSeq` has fallen since its load began. */
  tagNumbers(tags: readonly string[]): Promise<TagNumbersRead | Away>
  /** Removes everything: not atomic where there are many nodes. */
  clear(): Promise<Cleared>
  inspect(key: string): Promise<Inspection | Away>
  /** Whether it answers. */
  ping(): Promise<Done>
  /** Calls `listener` for what happens at the store, in any process, until the returned function is called. */
  watch(listener: (notice: Notice) => void): () => void
  close(): Promise<void>
}

/** The right to refresh one key, as the process that holds it knows it. */
export interface Lease {
  readonly key: string
  /** Proves the holder: only who knows it may renew, commit or release. */
  readonly token: string
  /** How many loads of the key have failed in a row before this one. */
  readonly attempts: number
  /** When the acquire was sent, on the holder's monotonic clock: the lease cannot end later than `duration` after it was executed. */
  readonly sentAt: number
}
