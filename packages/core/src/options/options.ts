import type { Codec } from '../codec.ts'
import type { ByteSize, Duration } from '../duration.ts'
import type { CallerSignal } from '../load.ts'
import type { Runtime } from '../runtime.ts'
import type { Store } from '../store/store.ts'

/** How long a lease lives, and how long it may be kept alive. */
export interface LeaseOptions {
  /** Renewed at a third of this while the loader runs; a dead leader blocks its key for at most its rest. Default: `'5s'`. */
  readonly duration?: Duration | undefined
  /** No renewal leads past this, counted from the grant: a hung loader loses the key. Default: `loadTimeout` + `duration`. */
  readonly maxHold?: Duration | undefined
}

/** The fleet-wide pause after a failed load. */
export interface FailureCooldownOptions {
  /** After the first failure. Default: `'100ms'`. */
  readonly min?: Duration | undefined
  /** Doubled with every failure in a row up to this. Default: `'5s'`. */
  readonly max?: Duration | undefined
}

/** When a fresh value is refreshed ahead of its expiry: one of the two. */
export interface EarlyRefreshOptions {
  /** Scales the random moment: 1 suits most, more is earlier. Default: 1. */
  readonly beta?: number | undefined
  /** A fixed time before the expiry, instead of a random one. Default: none. */
  readonly before?: Duration | undefined
}

/** The near cache. */
export interface NearOptions {
  /** How many copies are kept; the least recently used go first. Default: 10,000. */
  readonly maxEntries?: number | undefined
  /** How much they may weigh together, encoded. Default: `'64mb'`. */
  readonly maxBytes?: ByteSize | undefined
  /** How long after it was read a copy may be served, should a push be lost. Default: `'5s'`. */
  readonly maxAge?: Duration | undefined
}

/** What is kept for the time that a shared store is away. */
export interface OutageOptions {
  /** How many copies are kept. Where they are that many, one in 16 newcomers takes the place of the least recently used. Default: 1,000. */
  readonly maxEntries?: number | undefined
  /** How long after it was read or loaded a copy may be served. Default: `'5s'`. */
  readonly maxAge?: Duration | undefined
}

/** How the tags of an entry are judged, where the store is shared. */
export interface TagOptions {
  /** How old a tag's number may be that this process judges by, should the push of its fall be lost; 0 asks at every read. Default: `'1s'`. */
  readonly maxAge?: Duration | undefined
}

/** What the cache and a single call both may set; a call's word comes first. */
export interface LoadOptions {
  /** Fresh for. No default: the cache or the call must give it. */
  readonly ttl?: Duration | undefined
  /** With only a `staleIfError` value in hand a caller waits this long for the load, then gets it; the load goes on behind. `false` waits for the outcome. Default: `'1s'`. */
  readonly softTimeout?: Duration | false | undefined
  /** Shortens `ttl` at random by up to this fraction, once per commit, so that entries do not expire together. Default: 0. */
  readonly jitter?: number | undefined
  /** Aborts `load.signal`, counts as a failure and hands the lease back. Default: `'30s'`. */
  readonly loadTimeout?: Duration | undefined
  /** The time a call may spend as a follower, over all re-elections; then a stale value of any allowed window, else `WaitTimeoutError`. Default: `'10s'`. */
  readonly waitTimeout?: Duration | undefined
  /** What the end of `waitTimeout` means without a stale value: an error, or a load of the caller's own that is stored nowhere, while `maxLoads` has room. Default: `'error'`. */
  readonly onWaitTimeout?: 'error' | 'load' | undefined
  /** Refreshes behind a value that is still fresh: at a random moment before its expiry, the earlier the longer its load took (`beta`, usually 1), or always `before` it. Default: false. */
  readonly earlyRefresh?: EarlyRefreshOptions | false | undefined
  /** The lease of a load. Default: 5 s, renewed up to `loadTimeout` + 5 s. */
  readonly lease?: LeaseOptions | undefined
  /** The pause after a failed load, for the whole fleet. Default: 100 ms, doubling up to 5 s. */
  readonly failureCooldown?: FailureCooldownOptions | undefined
  /** Which errors cool the key down; others go to the flight's callers and hand the lease over. Default: every error. */
  readonly isFailure?: ((error: unknown) => boolean) | undefined
}

/** Options of `createCache`. */
export interface CacheOptions extends LoadOptions {
  /** Where entries and leases live. Default: `memoryStore({ maxEntries: 10_000 })`. */
  readonly store?: Store | undefined
  /** How values become bytes in a shared store. Default: `json`. */
  readonly codec?: Codec | undefined
  /** After `ttl`: served at once while one leader refreshes behind. Default: 0. */
  readonly staleWhileRevalidate?: Duration | undefined
  /** After `ttl`: served when the load fails, times out, is slow, or the key is cooling. Default: 0. */
  readonly staleIfError?: Duration | undefined
  /** How long a call waits for an answer of a shared store before it goes on without it: the load then runs once per process. Writes and invalidations reject. Default: `'250ms'`. */
  readonly storeTimeout?: Duration | undefined
  /** Copies of a shared store's entries in this process, dropped by push when an entry changes: a hit among them asks nobody. Values are shared: treat what a hit returns as read-only. Default: false. */
  readonly near?: NearOptions | false | undefined
  /** What this process keeps of what it read of late, and of what it loads, to answer with while a shared store is away. `false`: while it is away nothing is served from memory. Default: `{ maxEntries: 1000, maxAge: '5s' }`. */
  readonly outage?: OutageOptions | false | undefined
  /** An encoded value larger than this is given to its callers and not stored, with an event. Memory stores, which encode nothing, have a `maxBytes` of their own. Default: `'4mb'`. */
  readonly maxEntryBytes?: ByteSize | undefined
  /** Makes plain objects and arrays read-only when they are kept in this process, where every hit hands out the same object. Default: false. */
  readonly freeze?: boolean | undefined
  /** Whether the message of a loader's error travels to callers elsewhere, and to those of a cooling key, beside its name and code. Messages may hold SQL and hosts. Default: false. */
  readonly shareErrorMessages?: boolean | undefined
  /** How tags are judged. Default: `{ maxAge: '1s' }`. */
  readonly tags?: TagOptions | undefined
  /** Loads at once in this process; one more waits its turn inside its `waitTimeout`, one behind a stale value is left out. A load inside a load never waits. Default: no limit. */
  readonly maxLoads?: number | undefined
  /** Calls that wait for a load in this process; one more is refused at once, or served a stale value if it may be. Default: 10,000. */
  readonly maxWaiters?: number | undefined
  /** Calls that wait for one key in this process. Default: a quarter of `maxWaiters`. */
  readonly maxWaitersPerKey?: number | undefined
  /** Time, timers, randomness and tokens: for tests. Default: the process's own. */
  readonly runtime?: Runtime | undefined
}

/** Options of `getOrSet`, `lookup`, `refresh` and `wrap`. A call may be stricter than an entry's own windows, never laxer. */
export interface CallOptions<V = unknown> extends LoadOptions {
  /** How this key's value becomes bytes. Default: the cache's. */
  readonly codec?: Codec<NoInfer<V>> | undefined
  /** The window that this call's load commits with; `false`: this call accepts no such value. Default: the cache's. */
  readonly staleWhileRevalidate?: Duration | false | undefined
  /** The window that this call's load commits with; `false`: this call accepts no such value. Default: the cache's. */
  readonly staleIfError?: Duration | false | undefined
  /** What `invalidateTags` finds the entry by: at most 100, of 1 to 256 characters each. Default: none. */
  readonly tags?: readonly string[] | undefined
  /** An older entry is not good enough for this call. Default: no limit. */
  readonly maxAge?: Duration | undefined
  /** Whether a copy of this process's near cache will do. Default: true, in a cache with `near`. */
  readonly near?: boolean | undefined
  /** An `AbortSignal` that ends this caller's wait, not the load that others wait for. Default: none. */
  readonly signal?: CallerSignal | undefined
}

/** Options of `set`. */
export interface SetOptions<V = unknown> {
  /** Fresh for. Default: the cache's. */
  readonly ttl?: Duration | undefined
  /** After `ttl`: served at once while one leader refreshes behind. Default: the cache's. */
  readonly staleWhileRevalidate?: Duration | undefined
  /** After `ttl`: served when a load fails. Default: the cache's. */
  readonly staleIfError?: Duration | undefined
  /** Shortens `ttl` at random by up to this fraction. Default: the cache's. */
  readonly jitter?: number | undefined
  /** What `invalidateTags` finds the entry by. Default: none. */
  readonly tags?: readonly string[] | undefined
  /** How this key's value becomes bytes. Default: the cache's. */
  readonly codec?: Codec<NoInfer<V>> | undefined
}

/** Options of `delete` and `expire`. */
export interface InvalidateOptions {
  /** For this long loads run but nothing is stored: for sources whose replicas lag behind. Default: 0. */
  readonly holdOff?: Duration | undefined
}

/** Options of `get`. */
export interface GetOptions<V = unknown> {
  /** Whether a value inside one of its stale windows will do. Default: false. */
  readonly stale?: boolean | undefined
  /** How this key's value became bytes. Default: the cache's. */
  readonly codec?: Codec<V> | undefined
}

/** Options of `read`. */
export interface ReadOptions<V = unknown> {
  /** How this key's value became bytes. Default: the cache's. */
  readonly codec?: Codec<V> | undefined
}

/** Options of `wrap`. */
export interface WrapOptions<F extends (...args: never[]) => unknown> extends CallOptions<Awaited<ReturnType<F>>> {
  /** The cache key of a call, from its arguments. */
  readonly key: (...args: Parameters<F>) => string
}

/** Options of `close`. */
export interface CloseOptions {
  /** How long running loads may take to end and commit before they are aborted and their leases handed back. Default: `'5s'`. */
  readonly drain?: Duration | undefined
}
