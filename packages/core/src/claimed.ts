import type { KeepOptions, Outcome, UncacheableOptions } from './load.ts'

/**
 * What `cache.claim` brings: the value of the key, the lead, or the right to load alone.
 *
 * @example
 * import type { Claim } from '@cattlegrid/core'
 *
 * const isOurs = (claim: Claim<unknown>): boolean => claim.kind === 'lead'
 */
export type Claim<V> = ClaimedValue<V> | ClaimedLead<V> | ClaimedAlone

/**
 * A value: fresh, or stale while somebody else refreshes it, or just loaded by the leader for which the claim
 * waited. Times in ms, as `lookup` has them.
 */
export interface ClaimedValue<V> {
  readonly kind: 'value'
  readonly value: V
  readonly status: 'fresh' | 'stale' | 'loaded'
  readonly from: 'near' | 'store' | 'outage' | 'load'
  readonly age: number
  readonly freshFor: number
}

/**
 * The lead: nobody else in the fleet loads the key now. End it by one of `commit`, `fail`, `uncacheable` and
 * `handOver`; the first one counts. It is not renewed by itself: it ends with `hold`, and one that is garbage
 * collected before is handed over.
 */
export interface ClaimedLead<V> {
  readonly kind: 'lead'
  /** The value that it replaces, while it may still be served; `age` in ms. */
  readonly stale: { readonly value: V; readonly age: number } | undefined
  /**
   * Aborted, with a reason, when the lead is lost: at the end of `hold`, by `close`, or by a refused `renew`.
   */
  readonly signal: AbortSignal
  /**
   * Stores the value and ends the lead. Nothing is stored once the lease was lost or voided: the outcome then
   * is `refused`. Never rejects for the store.
   *
   * @throws InvalidOptionError for an option that `load.keep` would refuse, or a promise as the value: the
   * lead then goes on.
   */
  commit(value: V, options?: KeepOptions): Promise<Outcome>
  /**
   * Ends the lead with an error, as a loader's error does: the key cools down if `isFailure` says so, and
   * calls that wait get a stale value or the error.
   */
  fail(error: unknown): Promise<Outcome>
  /** Ends the lead and marks the key as uncacheable: calls that wait load for themselves. */
  uncacheable(options?: Omit<UncacheableOptions, 'share'>): Promise<Outcome>
  /** Gives the lead to the next call that wants it. Does nothing once the lead has ended. */
  handOver(): Promise<void>
  /**
   * Moves the end of the lead to `hold` from now, never past `lease.maxHold`. Resolves to false when the
   * store did not do so.
   */
  renew(): Promise<boolean>
  /** As `handOver`: `await using` ends a lead that nothing else has ended. */
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * The right to load for oneself: the result cannot be stored, and there is nothing to end. `away`: the store
 * did not answer.
 */
export interface ClaimedAlone {
  readonly kind: 'alone'
  readonly why: 'uncacheable' | 'held-off' | 'away' | 'wait-timeout' | 'paused'
}
