import type { ManyLoader } from '../batch/many-loader.ts'
import type { Windows } from '../entry.ts'
import type { Claim } from '../claimed.ts'
import type { EventName, Listener } from '../events/cache-events.ts'
import type { Loader } from '../load.ts'
import type { Lookup } from '../lookup/result.ts'
import type {
  CallOptions,
  ClaimOptions,
  CloseOptions,
  GetOptions,
  InspectOptions,
  ExpireTagsOptions,
  InvalidateOptions,
  ReadOptions,
  ReadyOptions,
  SetOptions,
  ViewOptions,
  WrapOptions,
} from '../options/call-options.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { CacheStats } from '../activity.ts'
import type { Store } from '../store/store.ts'
import type { Inspected } from './inspected.ts'

/**
 * A cache that calls a key's loader once per expiry, however many callers and processes ask for the key.
 *
 * @example
 * import { createCache } from '@cattlegrid/core'
 *
 * const cache = createCache({ ttl: '1m', staleWhileRevalidate: '10m' })
 * const report = await cache.getOrSet('report', async () => ({ total: 3 }))
 */
export interface Cache {
  /** The option `name`. */
  readonly name: string
  /** The option `store`, or the memory store that takes its place. */
  readonly store: Store
  /** True when other processes may use the same store. */
  readonly shared: boolean
  /** True from the call of `close` on: it rejects further calls. */
  readonly closed: boolean
  /** True from `pause` to `resume`, of this cache or a view, and while an operator pauses all processes. */
  readonly paused: boolean
  /** The default windows of entries, ms. `ttl` is undefined where it was not given. */
  readonly windows: Pick<Windows, 'staleWhileRevalidate' | 'staleIfError'> & { readonly ttl: number | undefined }
  /** The source of time, timers and randomness: `options.runtime`, or the system's. */
  readonly runtime: Runtime
  /**
   * Returns a view of this cache with other default options, which are checked once instead of at every call.
   * With `maxLoads`, it has a separate limit. The view shares everything else: entries, loads, limits,
   * events, `pause`, `close`.
   *
   * @example
   * const prices = cache.with({ ttl: '10s', maxLoads: 4 })
   * await prices.getOrSet('price:7', async () => 129)
   * @throws InvalidOptionError
   */
  with(options: ViewOptions): Cache
  /** The cache behind all views; itself if it is no view. Use it as the key of what you keep once a cache. */
  readonly root: Cache
  /**
   * Returns the value of `key`, and calls `loader` if there is none to serve and no other load to wait for.
   *
   * @example
   * const rates = await cache.getOrSet('rates', async ({ signal }) => {
   *   const response = await fetch('https://rates.example/today', { signal })
   *   return (await response.json()) as { readonly chf: number }
   * })
   * @throws the loader's own error; LoadFailedError while the key cools down; LoadTimeoutError;
   * WaitTimeoutError; TooManyWaitersError; ReentrantLoadError; InvalidOptionError; InvalidKeyError;
   * ClosedError; the reason of `options.signal`. Never StoreAwayError: while the store is away the cache
   * works per process.
   */
  getOrSet<V, S = V>(key: string, loader: Loader<V, S>, options?: CallOptions<V>): Promise<V>
  /**
   * As `getOrSet`, with the value's origin and the load's end. The leader's answer waits for its commit.
   *
   * @example
   * const { value, status, age } = await cache.lookup('report', async () => ({ total: 3 }))
   * console.log(value.total, status, age)
   */
  lookup<V, S = V>(key: string, loader: Loader<V, S>, options?: CallOptions<V>): Promise<Lookup<V>>
  /**
   * Claims the key, for a host that calls no loader: a queue worker, a framework that only knows `get` and
   * `set`. Brings the value, if there is one to serve or another caller loads it; else the lead, which its
   * caller must end; else the right to load alone. Callers of `claim` and of `getOrSet` meet on one key.
   *
   * @example
   * const claim = await cache.claim<string>('page:7', { hold: '10s' })
   * if (claim.kind === 'value') console.log(claim.value)
   * else if (claim.kind === 'lead') await claim.commit('<h1>Seven</h1>', { tags: ['product:7'] })
   * @throws as `getOrSet`, but no error of a loader, and WaitTimeoutError never: the end of `waitTimeout` is
   * the right to load alone.
   */
  claim<V>(key: string, options?: ClaimOptions<V>): Promise<Claim<V>>
  /**
   * Returns a fresh value from the memory store or the near cache, synchronously. Undefined also when an
   * early refresh is due: `getOrSet` or `lookup` then starts it.
   *
   * @example
   * const now = cache.peek<number>('price:7')?.value
   * @throws InvalidOptionError; InvalidKeyError; ClosedError.
   */
  peek<V = unknown>(key: string, options?: ReadOptions<V>): ReadResult<V> | undefined
  /**
   * Returns a fresh value, with `stale: true` also a stale one; otherwise undefined. Never loads.
   *
   * @example
   * const price = await cache.get<number>('price:7', { stale: true })
   */
  get<V = unknown>(key: string, options?: GetOptions<V>): Promise<V | undefined>
  /**
   * Returns a fresh or stale value with its state, and never loads. A stored `undefined` differs from a miss.
   *
   * @example
   * const found = await cache.read<number | undefined>('price:7')
   * if (found !== undefined) console.log(found.value, found.state)
   */
  read<V = unknown>(key: string, options?: ReadOptions<V>): Promise<ReadResult<V> | undefined>
  /**
   * Returns the fresh values among `keys`, with `stale: true` also the stale ones. Never loads.
   *
   * @example
   * const prices = await cache.getMany<number>(['price:7', 'price:8'])
   * console.log(prices.get('price:7'))
   */
  getMany<V = unknown>(keys: readonly string[], options?: GetOptions<V>): Promise<Map<string, V>>
  /**
   * Returns the values of many keys, each as `getOrSet` does, in the order of `keys`. The keys that this call
   * leads together share one call of `loader`, which waits for no other key; a key that first waits for
   * another leader, and then leads, is loaded by a further call. Of more than 2,000 keys, one part after the
   * other is looked up and loaded. A key that the loader's Map leaves out is missing in the result, unless
   * another caller loaded it.
   *
   * @example
   * const names = await cache.getOrSetMany(['name:7', 'name:8'], async (keys) => new Map(keys.map((key) => [key, `the name of ${key}`])))
   * console.log(names.get('name:7'))
   * @throws as `getOrSet`, with the first key's error.
   */
  getOrSetMany<V>(keys: readonly string[], loader: ManyLoader<V>, options?: CallOptions<V>): Promise<Map<string, V>>
  /**
   * Loads now, however fresh the value is, or waits for a load that runs already. For warming up.
   *
   * @example
   * await cache.refresh('report', async () => ({ total: 3 }))
   */
  refresh<V, S = V>(key: string, loader: Loader<V, S>, options?: CallOptions<V>): Promise<V>
  /**
   * Writes a value, and voids a running lease: no load that began before can overwrite it. Another `set` can,
   * in the order in which the store executes them; with several writers, write the source and call
   * `delete` instead.
   *
   * @example
   * await cache.set('price:7', 129, { ttl: '10s', tags: ['product:7'] })
   * @throws StoreAwayError when the store did not answer.
   */
  set<V>(key: string, value: V, options?: SetOptions<V>): Promise<void>
  /**
   * As `set` for each key, in one turn: the client of a shared store sends them in one write. Each key is
   * written by itself, also when another one fails.
   *
   * @example
   * await cache.setMany(new Map([['price:7', 129], ['price:8', 99]]), { ttl: '10s' })
   * @throws as `set`, with the first key's error; InvalidOptionError and InvalidKeyError before anything
   * is written.
   */
  setMany<V>(values: ReadonlyMap<string, V>, options?: SetOptions<V>): Promise<void>
  /**
   * Removes the value in all processes, and voids a running lease: no load that began before can restore it.
   *
   * @example
   * await cache.delete('price:7')
   * @throws StoreAwayError when the store did not answer.
   */
  delete(key: string, options?: InvalidateOptions): Promise<void>
  /**
   * As `delete` for each key, in one turn: the client of a shared store sends them in one write. Each key is
   * deleted by itself, also when another one fails.
   *
   * @example
   * await cache.deleteMany(['product:7', 'product:8'])
   * @throws as `delete`, with the first key's error.
   */
  deleteMany(keys: readonly string[], options?: InvalidateOptions): Promise<void>
  /**
   * As `delete`, but the value remains as a stale one, within the stale windows that it was committed with.
   *
   * @example
   * await cache.expire('price:7')
   */
  expire(key: string, options?: InvalidateOptions): Promise<void>
  /**
   * Makes every entry with one of the tags unusable; the value of a load with one of them that began before
   * is not stored. The cost does not depend on the number of entries.
   *
   * @example
   * await cache.invalidateTags(['product:7'])
   * @throws StoreAwayError when the store did not answer.
   */
  invalidateTags(tags: readonly string[]): Promise<void>
  /**
   * Makes every entry with one of the tags stale, within the stale windows that it was committed with; and
   * the entry of a load that began before, too. The calls of each key start one refresh, within
   * `refreshBudget`. The cost does not depend on the number of entries.
   *
   * @example
   * await cache.expireTags(['prices'], { deleteAfter: '1m' })
   * @throws StoreAwayError when the store did not answer.
   */
  expireTags(tags: readonly string[], options?: ExpireTagsOptions): Promise<void>
  /**
   * Removes all leases and entries of the store's namespace; returns the number of entries. Not atomic.
   *
   * @example
   * const entries = await cache.clear()
   * @throws StoreAwayError when the store did not answer.
   */
  clear(): Promise<number>
  /**
   * Describes the state of a key, for diagnosis. Undefined while the store is away.
   * `@cattlegrid/explain` tells how the key came to this state.
   *
   * @example
   * const state = await cache.inspect('report')
   * console.log(state?.state, state?.lease?.holder?.pid)
   */
  inspect(key: string, options?: InspectOptions): Promise<Inspected | undefined>
  /**
   * Returns a function that calls `fn` through the cache.
   *
   * @example
   * const load = async (id: number) => ({ id })
   * const product = cache.wrap(load, { key: (id) => `product:${id}`, ttl: '30s' })
   * console.log((await product(7)).id)
   */
  wrap<F extends (...args: never[]) => unknown>(
    fn: F,
    options: WrapOptions<F>,
  ): (...args: Parameters<F>) => Promise<Awaited<ReturnType<F>>>
  /**
   * Calls `listener` for every `event`, until the returned function is called.
   *
   * @example
   * const stop = cache.on('hit', ({ key, status }) => console.log(key, status))
   * stop()
   */
  on<E extends EventName>(event: E, listener: Listener<E>): () => void
  /**
   * Returns what this cache has done in this process, and does now. All views of a cache have the same.
   *
   * @example
   * console.log(cache.stats())
   */
  stats(): CacheStats
  /**
   * Bypasses the cache in this process until `resume`, for an emergency: every call runs its own loader,
   * within `maxLoads`, and no stored value is served and no loaded value stored. Writes and invalidations
   * still reach the store.
   *
   * @example
   * cache.pause()
   */
  pause(): void
  /**
   * Ends a `pause` of this process. A cache with `enabled: false` stays paused, as one does that an operator
   * has paused in all processes.
   *
   * @example
   * cache.resume()
   */
  resume(): void
  /**
   * Resolves once the store has answered: for the start of a program that must not serve without it.
   *
   * @example
   * await cache.ready({ timeout: '5s' })
   * @throws StoreAwayError when the store has not answered after `timeout`.
   */
  ready(options?: ReadyOptions): Promise<void>
  /**
   * Rejects new calls, waits for running loads for at most `drain`, then aborts them and releases their
   * leases. The last cache that uses a shared store closes it.
   *
   * @example
   * await cache.close({ drain: '5s' })
   */
  close(options?: CloseOptions): Promise<void>
}

/** The result of `read`. */
export interface ReadResult<V> {
  readonly value: V
  readonly state: 'fresh' | 'stale'
  /** Time since the commit, ms. */
  readonly age: number
  /** Time until the value stops being fresh, ms; negative for a stale one. */
  readonly freshFor: number
}
