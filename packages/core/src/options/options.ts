import type { Codec } from '../codec.ts'
import type { ByteSize, Duration } from '../duration.ts'
import type { CallerSignal } from '../load.ts'
import type { Runtime } from '../runtime.ts'
import type { Store } from '../store/store.ts'

/** The lease of a load. */
export interface LeaseOptions {
  /** The life of a lease, renewed at a third of it while the loader runs. A dead leader blocks its key for at most this long. Default: `'5s'`. */
  readonly duration?: Duration | undefined
  /** The latest end of a lease, counted from the grant: after it a hung loader loses the key. Default: `loadTimeout` + `duration`. */
  readonly maxHold?: Duration | undefined
}

/** The fleet-wide pause after a failed load. */
export interface FailureCooldownOptions {
  /** The pause after the first failure. Default: `'100ms'`. */
  readonly min?: Duration | undefined
  /** The longest pause: it doubles with every failure in a row. Default: `'5s'`. */
  readonly max?: Duration | undefined
}

/** The moment at which a fresh value is refreshed: one of the two. */
export interface EarlyRefreshOptions {
  /** Scales the random time before the expiry: 1 suits most, more is earlier. Default: 1. */
  readonly beta?: number | undefined
  /** A fixed time before the expiry, instead of a random one. Default: none. */
  readonly before?: Duration | undefined
}

/** The near cache. */
export interface NearOptions {
  /** The most copies; the least recently used go first. Default: 10,000. */
  readonly maxEntries?: number | undefined
  /** The most bytes of all copies together, encoded. Default: `'64mb'`. */
  readonly maxBytes?: ByteSize | undefined
  /** A copy is served for so long after it was read; a lost notice of a change shows for at most this time. Default: `'5s'`. */
  readonly maxAge?: Duration | undefined
}

/** The copies for the time that a shared store is away. */
export interface OutageOptions {
  /** The most copies. Once there are so many, one in 16 new keys replaces the least recently used. Default: 1,000. */
  readonly maxEntries?: number | undefined
  /** A copy is served for so long after it was read or loaded. Default: `'5s'`. */
  readonly maxAge?: Duration | undefined
}

/** How the tags of an entry are judged when the store is shared. */
export interface TagOptions {
  /** The greatest age of a tag's number that this process judges by: if the notice of an invalidation is lost, it shows after this time. 0 asks the store at every read. Default: `'1s'`. */
  readonly maxAge?: Duration | undefined
}

/** Options of both the cache and a single call; a call's value comes first. */
export interface LoadOptions {
  /** An entry is fresh for so long. `30` means 30 ms. No default: the cache or the call must give it. */
  readonly ttl?: Duration | undefined
  /** A caller for whom only a `staleIfError` value is there waits so long for the load, then gets that value; the load goes on behind. `false` waits for the outcome. Default: `'1s'`. */
  readonly softTimeout?: Duration | false | undefined
  /** Shortens `ttl` at random by up to this fraction, once per commit, so that entries do not expire together. Default: 0. */
  readonly jitter?: number | undefined
  /** The longest time of a load. At its end `load.signal` is aborted, the load counts as failed, and the lease is handed back. Default: `'30s'`. */
  readonly loadTimeout?: Duration | undefined
  /** The longest time that a call waits for loads of others. At its end it gets a stale value of any allowed window, else `WaitTimeoutError`. Default: `'10s'`. */
  readonly waitTimeout?: Duration | undefined
  /** At the end of `waitTimeout`, without a stale value: `'error'` rejects; `'load'` runs the loader for this caller alone and stores nothing, while `maxLoads` has room. Default: `'error'`. */
  readonly onWaitTimeout?: 'error' | 'load' | undefined
  /** Refreshes a value behind its readers while it is still fresh: at a random moment before its expiry, the earlier the longer its load took (`beta`), or a fixed time before it (`before`). Default: false. */
  readonly earlyRefresh?: EarlyRefreshOptions | false | undefined
  /** The lease of a load. Default: 5 s, renewed up to `loadTimeout` + 5 s. */
  readonly lease?: LeaseOptions | undefined
  /** The pause after a failed load, for the whole fleet. Default: 100 ms, doubling up to 5 s. */
  readonly failureCooldown?: FailureCooldownOptions | undefined
  /** Returns true for an error that cools the key down. Any other only rejects the calls of its load, and the lease is handed over. Default: every error. */
  readonly isFailure?: ((error: unknown) => boolean) | undefined
}

/** Options of `createCache`. */
export interface CacheOptions extends LoadOptions {
  /** Where entries and leases live. Default: `memoryStore({ maxEntries: 10_000 })`. */
  readonly store?: Store | undefined
  /** Encodes values for a shared store. Default: `json`. */
  readonly codec?: Codec | undefined
  /** For so long after `ttl` an entry is served at once while one leader refreshes it behind. Default: 0. */
  readonly staleWhileRevalidate?: Duration | undefined
  /** For so long after `ttl` an entry is served when the load fails, times out or is slow, or the key is cooling. Default: 0. */
  readonly staleIfError?: Duration | undefined
  /** The longest time that a call waits for a shared store. Then it goes on without it, and a key has one load in each process; writes and invalidations reject with `StoreAwayError`. Default: `'250ms'`. */
  readonly storeTimeout?: Duration | undefined
  /** Keeps copies of a shared store's entries in this process: a hit among them sends no command. A notice drops a copy when its entry changes. Hits share one object: treat it as read-only. Default: false. */
  readonly near?: NearOptions | false | undefined
  /** Keeps copies of what this process read and loaded, to answer with while a shared store is away. `false`: nothing is served from memory then. Default: `{ maxEntries: 1000, maxAge: '5s' }`. */
  readonly outage?: OutageOptions | false | undefined
  /** An encoded value larger than this goes to its callers and is not stored; the event `too-large` reports it. A memory store encodes nothing and has its own `maxBytes`. Default: `'4mb'`. */
  readonly maxEntryBytes?: ByteSize | undefined
  /** Makes plain objects and arrays read-only when this process keeps them, because every hit returns the same object. Default: false. */
  readonly freeze?: boolean | undefined
  /** Sends the message of a loader's error, beside its name and code, to callers in other processes and to those of a cooling key. Messages may hold SQL and host names. Default: false. */
  readonly shareErrorMessages?: boolean | undefined
  /** How tags are judged. Default: `{ maxAge: '1s' }`. */
  readonly tags?: TagOptions | undefined
  /** The most loads at once in this process. One more waits within its `waitTimeout`; one behind a stale value does not run. A load inside a load never waits. Default: no limit. */
  readonly maxLoads?: number | undefined
  /** The most calls that wait for a load in this process. One more gets a stale value, else `TooManyWaitersError`, at once. Default: 10,000. */
  readonly maxWaiters?: number | undefined
  /** The most calls that wait for one key in this process. Default: a quarter of `maxWaiters`. */
  readonly maxWaitersPerKey?: number | undefined
  /** Time, timers, randomness and tokens: for tests. Default: the process's own. */
  readonly runtime?: Runtime | undefined
}

/** Options of `getOrSet`, `lookup`, `refresh` and `wrap`. A call may be stricter than an entry's own windows, never laxer. */
export interface CallOptions<V = unknown> extends LoadOptions {
  /** Encodes this key's value for a shared store. Default: the cache's. */
  readonly codec?: Codec<NoInfer<V>> | undefined
  /** The window with which this call's load commits; `false`: this call accepts no such stale value. Default: the cache's. */
  readonly staleWhileRevalidate?: Duration | false | undefined
  /** The window with which this call's load commits; `false`: this call accepts no such stale value. Default: the cache's. */
  readonly staleIfError?: Duration | false | undefined
  /** The tags by which `invalidateTags` finds the entry: at most 100, of 1 to 256 characters each. Default: none. */
  readonly tags?: readonly string[] | undefined
  /** The greatest age of an entry that this call accepts. Default: no limit. */
  readonly maxAge?: Duration | undefined
  /** False: a copy of this process's near cache is not accepted. Default: true, in a cache with `near`. */
  readonly near?: boolean | undefined
  /** An `AbortSignal` that ends this caller's wait, not the load that others wait for. Default: none. */
  readonly signal?: CallerSignal | undefined
}

/** Options of `set`. */
export interface SetOptions<V = unknown> {
  /** The entry is fresh for so long. Default: the cache's. */
  readonly ttl?: Duration | undefined
  /** For so long after `ttl` it is served at once while one leader refreshes it behind. Default: the cache's. */
  readonly staleWhileRevalidate?: Duration | undefined
  /** For so long after `ttl` it is served when a load fails. Default: the cache's. */
  readonly staleIfError?: Duration | undefined
  /** Shortens `ttl` at random by up to this fraction. Default: the cache's. */
  readonly jitter?: number | undefined
  /** What `invalidateTags` finds the entry by. Default: none. */
  readonly tags?: readonly string[] | undefined
  /** Encodes this key's value for a shared store. Default: the cache's. */
  readonly codec?: Codec<NoInfer<V>> | undefined
}

/** Options of `delete` and `expire`. */
export interface InvalidateOptions {
  /** For this long loads run but nothing is stored: for sources whose replicas lag behind. Default: 0. */
  readonly holdOff?: Duration | undefined
}

/** Options of `get`. */
export interface GetOptions<V = unknown> {
  /** True: a stale value is returned, too. Default: false. */
  readonly stale?: boolean | undefined
  /** Decodes this key's value. Default: the cache's. */
  readonly codec?: Codec<V> | undefined
}

/** Options of `read`. */
export interface ReadOptions<V = unknown> {
  /** Decodes this key's value. Default: the cache's. */
  readonly codec?: Codec<V> | undefined
}

/** Options of `wrap`. */
export interface WrapOptions<F extends (...args: never[]) => unknown> extends CallOptions<Awaited<ReturnType<F>>> {
  /** The cache key of a call, from its arguments. */
  readonly key: (...args: Parameters<F>) => string
}

/** Options of `close`. */
export interface CloseOptions {
  /** Running loads may take so long to end and commit; then they are aborted and their leases handed back. Default: `'5s'`. */
  readonly drain?: Duration | undefined
}
