import type { Codec } from '../codec.ts'
import type { Entry, NewEntry, Version } from '../entry.ts'
import type { Failure } from '../errors.ts'
import type { Lease } from '../lease/lease.ts'

/** The store did not answer: a value, never an exception, so that no road forgets it. */
export interface Away {
  readonly kind: 'away'
  readonly why: 'deadline' | 'breaker' | 'error'
  readonly cause: unknown
}

export type Read =
  | { readonly kind: 'found'; readonly entry: Entry }
  /** `because` is there when something stood at the key that is no entry of ours, or could not be decoded. */
  | { readonly kind: 'missing'; readonly version: Version; readonly because?: Unreadable | undefined }
  | Away

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
  /** Every entry was removed; or notices may have been lost from here on (`deaf`); or they arrive again (`hearing`). */
  | { readonly kind: 'cleared' | 'deaf' | 'hearing' }
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

/**
 * Where entries and leases live. Each step is atomic at the store; none ever throws or rejects: what went wrong is a value.
 * `describeStoreContract` of the testkit holds every store to it.
 */
export interface Store {
  /** Whether other processes see it: only then is it worth waiting for them. */
  readonly shared: boolean
  /** The entry, where it is at hand in this process: synchronous, so that a hit awaits nothing. */
  peek(key: string): Entry | undefined
  read(key: string, codec: Codec): Promise<Read>
  acquire(key: string, request: AcquireRequest): Promise<Acquire>
  /** Moves the end of a lease to `duration` ms from now. */
  renew(lease: Lease, duration: number): Promise<{ readonly kind: 'renewed' } | Refused | Away>
  /** Writes the entry and gives the lease back, only while the lease is the holder's. `away` means unknown, never stored. */
  commit(lease: Lease, entry: NewEntry, codec: Codec): Promise<Commit>
  /** Ends a lease without a write, only while it is the holder's. */
  release(lease: Lease, ending: Ending): Promise<{ readonly kind: 'released' } | Refused | Away>
  /** Writes without a lease, and voids one that runs: newer than every load that began before it. */
  put(
    key: string,
    entry: NewEntry,
    codec: Codec,
  ): Promise<{ readonly kind: 'stored'; readonly version: Version } | Unkeepable | Away>
  /** Removes the entry, or keeps it as stale, and voids a running lease, a cooldown and an uncacheable mark. `holdOff`, ms: nothing is stored that long. */
  invalidate(key: string, how: 'delete' | 'expire', holdOff: number): Promise<Done>
  /** Makes every entry that carries one of the tags unusable, and every load that began before. */
  invalidateTags(tags: readonly string[]): Promise<{ readonly kind: 'done'; readonly tagSeq: number } | Away>
  /** Removes everything: not atomic where there are many nodes. */
  clear(): Promise<{ readonly kind: 'cleared'; readonly entries: number } | Away>
  inspect(key: string): Promise<Inspection | Away>
  /** Calls `listener` for what happens at the store, in any process, until the returned function is called. */
  watch(listener: (notice: Notice) => void): () => void
  close(): Promise<void>
}
