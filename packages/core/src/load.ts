import type { Duration } from './option-rules/duration.ts'

/** The load that a loader runs in: its facts, and how the loader decides about the result. */
export interface Load<S = unknown> {
  /** The key, as the caller gave it. */
  readonly key: string
  /**
   * Aborted, with a reason, at `loadTimeout`, by `close`, and when the lease is lost and no caller waits. At
   * `loadTimeout` a listener may still call `uncacheable`: the key then does not cool down.
   */
  readonly signal: AbortSignal
  /** The value that the load replaces, while it may still be served; `age` in ms. */
  readonly stale: { readonly value: S; readonly age: number } | undefined
  /**
   * True when the load began in the background: the call that started it was served at once. Later calls may
   * wait for it.
   */
  readonly background: boolean
  /** True when the load holds the lease: only then can its result be stored. */
  readonly leased: boolean
  /**
   * Sets how long this result is kept and its tags; an option that is not given keeps the value of the call
   * or the cache. The last call wins.
   *
   * @throws InvalidOptionError for an option that is unknown or has an invalid value.
   */
  keep(options: KeepOptions): void
  /**
   * The result is not stored, and the key is marked as uncacheable, also if the load then fails: the key does
   * not cool down. The last call wins, but `share: false` is final: those that joined were released with it.
   *
   * @throws InvalidOptionError for an option that is unknown or has an invalid value.
   */
  uncacheable(options?: UncacheableOptions): void
}

/**
 * What a loader may say of the value that it returns, by `load.keep`; what it leaves out stays as the call
 * has it.
 */
export interface KeepOptions {
  /**
   * How long the result is fresh. Less than 1 ms, also a negative number: the result is not stored, and what
   * was stored is removed. Default: the call's.
   */
  readonly ttl?: Duration | undefined
  /**
   * How long after `ttl` the result is served at once, while one load in the background refreshes it.
   * Default: the call's.
   */
  readonly staleWhileRevalidate?: Duration | undefined
  /**
   * How long after `ttl` the result is served when a load fails or is slow, or while the key cools down.
   * Default: the call's.
   */
  readonly staleIfError?: Duration | undefined
  /**
   * The tags by which `invalidateTags` finds the entry. An invalidation during the load counts too. Default:
   * the call's.
   */
  readonly tags?: readonly string[] | undefined
}

/** How the result of a load is not stored, by `load.uncacheable`. */
export interface UncacheableOptions {
  /**
   * How long no caller waits for another process's load of the key, and no result is stored.
   * Default: `'10s'`.
   */
  readonly for?: Duration | undefined
  /**
   * False: only the caller whose loader ran gets the result; those that joined load for themselves.
   * Default: true.
   */
  readonly share?: boolean | undefined
  /** The reason, for the outcome of the load. Default: none. */
  readonly why?: string | undefined
}

/** Produces the value of a key. */
export type Loader<V, S = V> = (load: Load<S>) => V | Promise<V>

/** The end of a load. Times in ms. */
export type Outcome =
  | { readonly kind: 'committed' }
  /**
   * The key cools down for `cooldown` ms, but not once the lease was lost or voided; 0 when the error was no
   * failure, the load had no lease, or a store or a policy threw.
   */
  | { readonly kind: 'failed'; readonly error: unknown; readonly cooldown: number }
  /**
   * The key is marked as uncacheable for `for` ms, and what was stored is removed, but not once the lease was
   * lost or voided. 0: no mark, so the next result may be stored. `why`: the reason that the loader gave, or
   * that the store had; `ttl` after `load.keep` with a `ttl` below 1 ms.
   */
  | {
      readonly kind: 'uncacheable'
      readonly for: number
      readonly share: boolean
      readonly why?: string | undefined
    }
  /** The lease was lost or voided before the commit: nothing was written. */
  | { readonly kind: 'refused'; readonly why: 'expired' | 'voided' | 'taken' | 'tag-voided' }
  /** No result was offered to the store, or the store did not answer the commit; `why` says which. */
  | { readonly kind: 'abandoned'; readonly why: AbandonReason }

/**
 * `held`: another flight leads. `cooling`: the last load failed. `changed`: another process committed first.
 * `unleased`: no lease was granted or asked for, because the key is uncacheable or held off, the cache is
 * paused, or the caller's `waitTimeout` was over; the load, if any, ran without one. `away`: the store did
 * not answer. `no-waiters`: every caller left before the load began. `closed`: the cache was closed. `busy`:
 * a background refresh found `maxLoads` loads running. `overloaded`: the source could not begin the load
 * within the `waitTimeout` of its callers. `over-budget`: a background refresh found `refreshBudget` used up.
 * `absent`: the loader of a batch returned no value for this key. `handed-over`: the lead of a claim ended
 * without a result.
 */
export type AbandonReason =
  | 'held'
  | 'cooling'
  | 'changed'
  | 'unleased'
  | 'away'
  | 'no-waiters'
  | 'closed'
  | 'busy'
  | 'overloaded'
  | 'over-budget'
  | 'absent'
  | 'handed-over'

/** The result of a key for which the loader of a batch returned no value. */
export const ABSENT: unique symbol = Symbol('absent')
/** Ends a load without a result: its lease goes to the next caller that wants one. */
export const HANDED_OVER: unique symbol = Symbol('handed over')

/**
 * Ends a caller's wait: an `AbortSignal`, or an object with these members that behaves like one. It is
 * aborted at most once and for good, has one reason from then on, and calls no listener from within
 * `addEventListener`.
 */
export interface CallerSignal {
  readonly aborted: boolean
  readonly reason: unknown
  throwIfAborted(): void
  addEventListener(type: 'abort', onAbort: () => void): void
  removeEventListener(type: 'abort', onAbort: () => void): void
}
