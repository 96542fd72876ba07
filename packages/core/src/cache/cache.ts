import type { ManyLoader } from '../batch/batch.ts'
import type { EventName, Listener } from '../events.ts'
import type { Loader } from '../load.ts'
import type { Lookup } from '../lookup/lookup.ts'
import type {
  CallOptions,
  CloseOptions,
  GetOptions,
  InvalidateOptions,
  ReadOptions,
  SetOptions,
  WrapOptions,
} from '../options/options.ts'
import type { Runtime } from '../runtime.ts'
import type { Inspection } from '../store/store.ts'

/** A cache that calls a loader once per expiry, however many callers and processes ask. */
export interface Cache {
  /** The store's word on whether other processes see what this cache keeps. */
  readonly shared: boolean
  /** Whether `pause` was called, on this cache or on a view of it, and `resume` not yet. */
  readonly paused: boolean
  /** Where the cache takes time, timers and randomness from: `options.runtime`, or the process's own. */
  readonly runtime: Runtime
  /**
   * A view of the same cache whose calls start from these options instead of the cache's: checked once, and not with every call. Everything
   * else is shared: entries, loads, limits, events, `pause`, `close`.
   *
   * @throws InvalidOptionError
   */
  with(options: CallOptions): Cache
  /**
   * The value of `key`; the one that leads calls `loader` for it.
   *
   * @throws what the loader threw; LoadFailedError while the key cools down; WaitTimeoutError; ReentrantLoadError; InvalidOptionError;
   * InvalidKeyError; ClosedError; the reason of `options.signal`. Never because the store is away.
   */
  getOrSet<V, S = V>(key: string, loader: Loader<V, S>, options?: CallOptions<V>): Promise<V>
  /** As `getOrSet`, and tells where the value came from and how the load ended: the leader's answer waits for its commit. */
  lookup<V, S = V>(key: string, loader: Loader<V, S>, options?: CallOptions<V>): Promise<Lookup<V>>
  /**
   * A fresh value that is at hand in this process, in a memory store or the near cache: asks nobody and awaits nothing. undefined also where an
   * early refresh is due: `getOrSet` and `lookup` begin it.
   *
   * @throws InvalidOptionError; InvalidKeyError; ClosedError.
   */
  peek<V = unknown>(key: string, options?: ReadOptions<V>): ReadResult<V> | undefined
  /** A fresh value, or with `stale` a stale one, or undefined; never loads. */
  get<V = unknown>(key: string, options?: GetOptions<V>): Promise<V | undefined>
  /** What is there, with its state; tells a stored undefined from a miss. */
  read<V = unknown>(key: string, options?: ReadOptions<V>): Promise<ReadResult<V> | undefined>
  /** Every fresh value that is there, or with `stale` the stale ones too; never loads. */
  getMany<V = unknown>(keys: readonly string[], options?: GetOptions<V>): Promise<Map<string, V>>
  /**
   * The values of many keys: one call of `loader` for those that this process leads, a wait for those that are led elsewhere. A key that
   * the loader's answer leaves out is in the result only if somebody else brought it.
   *
   * @throws as `getOrSet`, with the first key's error.
   */
  getOrSetMany<V>(keys: readonly string[], loader: ManyLoader<V>, options?: CallOptions<V>): Promise<Map<string, V>>
  /** Loads now, however fresh the value is: joins the load that runs, or waits for the one that leads elsewhere. For warming up. */
  refresh<V, S = V>(key: string, loader: Loader<V, S>, options?: CallOptions<V>): Promise<V>
  /**
   * Writes a value of its own: newer than every load that began before, and it voids a running lease. Not fenced against another `set`:
   * with two writers, write the source and `delete` instead.
   *
   * @throws StoreAwayError when the store did not answer.
   */
  set<V>(key: string, value: V, options?: SetOptions<V>): Promise<void>
  /**
   * Removes the value everywhere and voids a running lease: no load that began before can bring it back.
   *
   * @throws StoreAwayError when the store did not answer.
   */
  delete(key: string, options?: InvalidateOptions): Promise<void>
  /** As `delete`, but keeps the value as stale, inside the stale windows that it was committed with. */
  expire(key: string, options?: InvalidateOptions): Promise<void>
  /**
   * Makes every entry that carries one of the tags unusable, and the result of every load that began before: the work does not grow with
   * the number of entries.
   *
   * @throws StoreAwayError when the store did not answer.
   */
  invalidateTags(tags: readonly string[]): Promise<void>
  /**
   * Removes everything of this cache's namespace, leases first, and says how many entries. Goes through all keys, and is not atomic.
   *
   * @throws StoreAwayError when the store did not answer.
   */
  clear(): Promise<number>
  /** What stands at a key, for people: undefined while the store is away. */
  inspect(key: string): Promise<Inspected | undefined>
  /** The same function, answered from the cache. */
  wrap<F extends (...args: never[]) => unknown>(
    fn: F,
    options: WrapOptions<F>,
  ): (...args: Parameters<F>) => Promise<Awaited<ReturnType<F>>>
  /** Calls `listener` for every such event until the returned function is called. */
  on<E extends EventName>(event: E, listener: Listener<E>): () => void
  /**
   * A switch for an emergency: until `resume`, nothing that is stored is served and nothing is stored. Each caller's own loader runs, inside
   * `maxLoads`; writes and invalidations still reach the store. In this process only.
   */
  pause(): void
  /** Ends a `pause`. */
  resume(): void
  /** Refuses new calls, lets running loads end, then aborts them and hands their leases back. */
  close(options?: CloseOptions): Promise<void>
}

/** What `read` found. */
export interface ReadResult<V> {
  readonly value: V
  readonly state: 'fresh' | 'stale'
  /** Since its commit, ms. */
  readonly age: number
  /** Until it stops being fresh, ms; negative for a stale one. */
  readonly freshFor: number
}

/** What `inspect` tells. Times in ms. */
export interface Inspected {
  readonly state: 'fresh' | 'stale' | 'missing'
  readonly age: number | undefined
  readonly freshFor: number | undefined
  readonly lease: Inspection['lease'] | null
  readonly cooldown: Inspection['cooldown'] | null
  /** Calls of this process that wait for a load of the key. */
  readonly waitersHere: number
}
