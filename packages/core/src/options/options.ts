import type { Codec } from '../codec/codec.ts'
import type { ByteSize, Duration } from '../option-rules/duration.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Store } from '../store/store.ts'

/** The lease of a load. */
export interface LeaseOptions {
  /**
   * The length of a lease, which is renewed at every third of it while the loader runs. A dead leader blocks
   * its key for at most this long. Default: `'5s'`.
   */
  readonly duration?: Duration | undefined
  /**
   * The latest end of a lease, counted from its grant: then it is renewed no more, and another process may
   * load the key. Default: `loadTimeout` + `duration`.
   */
  readonly maxHold?: Duration | undefined
}

/** The cooldown of a key after a failed load: no process loads it meanwhile. */
export interface FailureCooldownOptions {
  /** The cooldown after the first failure. Default: `'100ms'`. */
  readonly min?: Duration | undefined
  /** The longest cooldown: it doubles with every failure in a row. Default: `'5s'`. */
  readonly max?: Duration | undefined
}

/** The moment at which a fresh value is refreshed in the background: `beta` or `before`, not both. */
export interface EarlyRefreshOptions {
  /** Scales the random time before the expiry: 1 suits most sources; 2 doubles the time. Default: 1. */
  readonly beta?: number | undefined
  /** A fixed time before the expiry, instead of a random one; less than `ttl`. Default: none. */
  readonly before?: Duration | undefined
}

/** The limits of the near cache: copies of a shared store's entries in this process. */
export interface NearOptions {
  /** The most copies; the least recently used go first. Default: 10,000. */
  readonly maxEntries?: number | undefined
  /**
   * The most bytes of all copies together, by an estimate of what each holds in memory. Default: `'64mb'`.
   */
  readonly maxBytes?: ByteSize | undefined
  /**
   * How long a copy is served after it was read. If the notice of a change is lost, the old value is served
   * for at most this time. Default: `'5s'`.
   */
  readonly maxAge?: Duration | undefined
}

/** The limits of the copies that are served while a shared store is away. */
export interface OutageOptions {
  /**
   * The most copies. At this number, one in 16 new keys replaces the least recently used copy.
   * Default: 1,000.
   */
  readonly maxEntries?: number | undefined
  /** How long a copy is served after it was read or loaded. Default: `'5s'`. */
  readonly maxAge?: Duration | undefined
}

/** The check of an entry's tags when the store is shared. */
export interface TagOptions {
  /**
   * A process asks the store for a tag's number again after this time: if the notice of an invalidation is
   * lost, old values are served for at most this time. 0 asks at every read. Default: `'1s'`.
   */
  readonly maxAge?: Duration | undefined
}

/**
 * The background refreshes of all processes that share the store and its namespace; `perSecond`, `atOnce` or
 * both. Each process should give the same limits.
 */
export interface RefreshBudgetOptions {
  /** The most refreshes that begin in one second. Default: no limit. */
  readonly perSecond?: number | undefined
  /** The most refreshes that run at once. Default: no limit. */
  readonly atOnce?: number | undefined
}

/** Options of both the cache and a single call; a call's value comes first. */
export interface LoadOptions {
  /**
   * How long an entry is fresh after it was stored. A number is in ms: `30` means 30 ms, and a process
   * warning asks once whether it is meant. `Infinity`: until it is invalidated. No default: the cache or the
   * call must give it.
   */
  readonly ttl?: Duration | undefined
  /**
   * How long a caller that could get a `staleIfError` value waits for the load. Then it gets that value, and
   * the load goes on in the background. `false`: it waits for the outcome. Default: `'1s'`.
   */
  readonly softTimeout?: Duration | false | undefined
  /**
   * Shortens `ttl` at random by up to this fraction, from 0 to below 1, once per commit: entries that were
   * loaded together do not expire together. Default: 0.
   */
  readonly jitter?: number | undefined
  /**
   * The longest time of a load. At its end `load.signal` is aborted, the load fails with `LoadTimeoutError`,
   * and the key cools down. Default: `'30s'`.
   */
  readonly loadTimeout?: Duration | undefined
  /**
   * The longest time that a call waits for loads of other processes. At its end the call gets a stale value
   * of any allowed window, else `WaitTimeoutError`. The store's answers and queues before such a load count;
   * a load in this process that brings the value does not. Default: `'10s'`.
   */
  readonly waitTimeout?: Duration | undefined
  /**
   * At the end of `waitTimeout`, without a stale value: `'error'` rejects; `'load'`, in a cache with
   * `maxLoads`, runs the loader for this caller alone if a permit is free, and stores nothing.
   * Default: `'error'`.
   */
  readonly onWaitTimeout?: 'error' | 'load' | undefined
  /**
   * Refreshes a value in the background while it is still fresh: at a random moment before its expiry, the
   * earlier the longer its load took (`beta`), or a fixed time before it (`before`). Default: false.
   */
  readonly earlyRefresh?: EarlyRefreshOptions | false | undefined
  /** The lease of a load. Default: 5 s, renewed up to `loadTimeout` + 5 s. */
  readonly lease?: LeaseOptions | undefined
  /** The cooldown after a failed load, in all processes. Default: 100 ms, doubling up to 5 s. */
  readonly failureCooldown?: FailureCooldownOptions | undefined
  /**
   * Returns true for an error that is a failure: the key cools down, and calls get a stale value where one is
   * allowed. Any other error rejects the calls of its load, and the next call may load at once. Default:
   * every error.
   */
  readonly isFailure?: ((error: unknown) => boolean) | undefined
}

/** Options of `createCache`. */
export interface CacheOptions extends LoadOptions {
  /**
   * The name of the cache in its events, metrics and spans: give each cache of a process its own. 1 to 100
   * characters. Default: `'default'`.
   */
  readonly name?: string | undefined
  /** Where entries and leases are kept. Default: `memoryStore({ maxEntries: 10_000, maxBytes: '64mb' })`. */
  readonly store?: Store | undefined
  /** Encodes and decodes values for a shared store. Default: `json`. */
  readonly codec?: Codec | undefined
  /**
   * True: a value that its codec would change, such as a Map under `json`, is an error, with any store: the
   * load fails, or `set` rejects, with `LossyCodecError`. False: the first such value gives a warning.
   * Default: false.
   */
  readonly strictCodec?: boolean | undefined
  /**
   * How long after `ttl` an entry is served at once, while one load in the background refreshes it.
   * Default: 0.
   */
  readonly staleWhileRevalidate?: Duration | undefined
  /**
   * How long after `ttl` an entry is served when the load fails, times out or is slow, or while the key cools
   * down. Default: 0.
   */
  readonly staleIfError?: Duration | undefined
  /**
   * The longest time that a call waits for a shared store. Then it goes on without the store: a key has one
   * load in each process, and writes and invalidations reject with `StoreAwayError`. The time counts from the
   * moment at which a step can be sent; in a burst, steps wait for their turn before it, for at most
   * `waitTimeout`, while the store answers others. Default: `'250ms'`.
   */
  readonly storeTimeout?: Duration | undefined
  /**
   * Keeps copies of a shared store's entries in this process: a hit among them sends no command. A notice
   * drops a copy when its entry changes. Its hits share one object, which no other caller has: treat it as
   * read-only. Default: false.
   */
  readonly near?: NearOptions | false | undefined
  /**
   * Keeps copies of what this process reads, and of what it loads while a shared store is away, and serves
   * them while that store is away. `false`: nothing is served from memory then; a key still has one load at a
   * time, and a failing loader its cooldown. Default: `{ maxEntries: 1000, maxAge: '5s' }`.
   */
  readonly outage?: OutageOptions | false | undefined
  /**
   * An encoded value larger than this goes to its callers and is not stored; the event `too-large` reports
   * it. A memory store encodes nothing and has its own `maxBytes`. Default: `'4mb'`.
   */
  readonly maxEntryBytes?: ByteSize | undefined
  /**
   * Makes plain objects and arrays read-only, at every depth: those that a loader returns to be stored, and
   * those that a call gets from a store. Callers that join one read of a shared store then share one value.
   * Default: false: each gets its own.
   */
  readonly freeze?: boolean | undefined
  /**
   * Sends the message of a loader's error, beside its name and code, to callers in other processes and to
   * those of a cooling key. Messages may hold SQL and host names. Default: false.
   */
  readonly shareErrorMessages?: boolean | undefined
  /** The check of tags in a shared store. Default: `{ maxAge: '1s' }`. */
  readonly tags?: TagOptions | undefined
  /**
   * The most loads at once in this process; `'auto'`: in all processes of the store together, as many as
   * their source answers in time; `false`: no limit. One more waits within its `waitTimeout`; one more in the
   * background does not begin. Calls made inside this cache's loads are exempt. Default: `'auto'` over a
   * shared store, else no limit.
   */
  readonly maxLoads?: number | 'auto' | false | undefined
  /**
   * Limits the background refreshes, for a source that could not answer a whole cache's: after `expireTags`,
   * or a deploy. A stale hit that finds the budget used up starts no refresh; a later one does. A load for
   * which a caller waits is neither delayed nor counted. While the store is away, each process counts alone.
   * Default: no limit.
   */
  readonly refreshBudget?: RefreshBudgetOptions | undefined
  /**
   * The most calls that wait for a load in this process. One more gets a stale value, else
   * `TooManyWaitersError`, at once. Calls from inside a load of this cache are not counted. Default: 10,000.
   */
  readonly maxWaiters?: number | undefined
  /** The most calls that wait for one key in this process. Default: a quarter of `maxWaiters`. */
  readonly maxWaitersPerKey?: number | undefined
  /**
   * False: every call runs its own loader, within `maxLoads`; nothing is kept, and nothing is sent to the
   * store. For tests and emergencies. Default: true.
   */
  readonly enabled?: boolean | undefined
  /** The source of time, timers, randomness and tokens: for tests. Default: the process's own. */
  readonly runtime?: Runtime | undefined
}
