import type { Codec } from '../codec/codec.ts'
import type { Duration } from '../option-rules/duration.ts'
import type { CallerSignal } from '../load.ts'
import type { LoadOptions } from './options.ts'

/**
 * Options of `getOrSet`, `lookup`, `refresh` and `wrap`. A call may be stricter than an entry's own windows,
 * never laxer.
 */
export interface CallOptions<V = unknown> extends LoadOptions {
  /** Encodes this key's value for a shared store. Default: the cache's. */
  readonly codec?: Codec<NoInfer<V>> | undefined
  /**
   * The stale window of the entry that this call's load stores. `false`: this call accepts no such stale
   * value. Default: the cache's.
   */
  readonly staleWhileRevalidate?: Duration | false | undefined
  /**
   * The stale window of the entry that this call's load stores. `false`: this call accepts no such stale
   * value. Default: the cache's.
   */
  readonly staleIfError?: Duration | false | undefined
  /**
   * The tags by which `invalidateTags` finds the entry: at most 100, of 1 to 256 characters each.
   * Default: none.
   */
  readonly tags?: readonly string[] | undefined
  /** The greatest age of an entry that this call accepts. Default: no limit. */
  readonly maxAge?: Duration | undefined
  /** False: a copy of this process's near cache is not accepted. Default: true, in a cache with `near`. */
  readonly near?: boolean | undefined
  /** An `AbortSignal` that ends this caller's wait, not the load that others wait for. Default: none. */
  readonly signal?: CallerSignal | undefined
}

/** Options of `claim`. `waitTimeout` ends in the right to load alone, and no claim is an early refresh. */
export interface ClaimOptions<V = unknown> extends Omit<CallOptions<V>, 'onWaitTimeout' | 'earlyRefresh'> {
  /**
   * How long the lead lasts, unless its holder renews it or ends it before. At its end another caller may
   * lead. Default: `lease.duration`.
   */
  readonly hold?: Duration | undefined
}

/** Options of `with`. */
export interface ViewOptions extends CallOptions {
  /**
   * The most loads at once of calls through this view, in this process, beside the cache's `maxLoads`, unless
   * that is `'auto'` and the view has another `source`; `'auto'`: as in the cache, for the view's `source`.
   * Default: no limit but the cache's.
   */
  readonly maxLoads?: number | 'auto' | undefined
  /**
   * Names what the loaders of this view ask, such as a database, where it is another than the cache's. Each
   * source has a separate limit with `maxLoads: 'auto'`. Default: the cache's source.
   */
  readonly source?: string | undefined
}

/** Options of `set`. */
export interface SetOptions<V = unknown> {
  /**
   * How long the entry is fresh after the write. `Infinity`: until it is invalidated. Default: the cache's.
   */
  readonly ttl?: Duration | undefined
  /**
   * How long after `ttl` the entry is served at once, while one load in the background refreshes it. Default:
   * the cache's.
   */
  readonly staleWhileRevalidate?: Duration | undefined
  /**
   * How long after `ttl` the entry is served when the load fails, times out or is slow, or while the key
   * cools down. Default: the cache's.
   */
  readonly staleIfError?: Duration | undefined
  /** Shortens `ttl` at random by up to this fraction, from 0 to below 1. Default: the cache's. */
  readonly jitter?: number | undefined
  /**
   * The tags by which `invalidateTags` finds the entry: at most 100, of 1 to 256 characters each.
   * Default: none.
   */
  readonly tags?: readonly string[] | undefined
  /** Encodes this key's value for a shared store. Default: the cache's. */
  readonly codec?: Codec<NoInfer<V>> | undefined
}

/** Options of `delete`, `deleteMany` and `expire`. */
export interface InvalidateOptions {
  /**
   * For this long loads run, but their values are not stored, and stale values are not refreshed in the
   * background: for sources whose replicas lag behind. A later invalidation does not shorten it; `set` and
   * `clear` end it. Default: 0.
   */
  readonly holdOff?: Duration | undefined
}

/** Options of `expireTags`. */
export interface ExpireTagsOptions {
  /**
   * The time after which the expired entries are unusable, whatever their windows are; no later call prolongs
   * it. Default: their windows end them.
   */
  readonly deleteAfter?: Duration | undefined
}

/** Options of `get`. */
export interface GetOptions<V = unknown> {
  /** True: returns a stale value too. Default: false. */
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

/** Options of `ready`. */
export interface ReadyOptions {
  /** The longest time that it waits for the store's first answer. Default: `'5s'`. */
  readonly timeout?: Duration | undefined
}

/** Options of `inspect`. */
export interface InspectOptions {
  /**
   * True: a key that looks like the digest by which events and errors name a long key is that digest.
   * Default: false.
   */
  readonly digest?: boolean | undefined
}

/** Options of `close`. */
export interface CloseOptions {
  /**
   * The longest time that running loads may take to end and commit; then they are aborted, and their leases
   * are released. Default: `'5s'`.
   */
  readonly drain?: Duration | undefined
}
