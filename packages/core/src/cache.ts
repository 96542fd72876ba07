import type { EventName, Listener } from './events.ts'
import type { Loader } from './load.ts'
import type { CallOptions, CloseOptions, GetOptions, ReadOptions, SetOptions, WrapOptions } from './options.ts'
import type { Lookup } from './refresh.ts'

/** A cache that calls a loader once per expiry, however many callers and processes ask. */
export interface Cache {
  /** The store's word on whether other processes see what this cache keeps. */
  readonly shared: boolean
  /**
   * The value of `key`; the one that leads calls `loader` for it.
   *
   * @throws what the loader threw; LoadFailedError while the key cools down; WaitTimeoutError; ReentrantLoadError; InvalidOptionError;
   * InvalidKeyError; ClosedError; the reason of `options.signal`. Never because the store is away.
   */
  getOrSet<V, S = V>(key: string, loader: Loader<V, S>, options?: CallOptions<V>): Promise<V>
  /** As `getOrSet`, and tells where the value came from and how the load ended: the leader's answer waits for its commit. */
  lookup<V, S = V>(key: string, loader: Loader<V, S>, options?: CallOptions<V>): Promise<Lookup<V>>
  /** A fresh value, or with `stale` a stale one, or undefined; never loads. */
  get<V = unknown>(key: string, options?: GetOptions<V>): Promise<V | undefined>
  /** What is there, with its state; tells a stored undefined from a miss. */
  read<V = unknown>(key: string, options?: ReadOptions<V>): Promise<ReadResult<V> | undefined>
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
  delete(key: string): Promise<void>
  /** As `delete`, but keeps the value as stale, inside the stale windows that it was committed with. */
  expire(key: string): Promise<void>
  /** The same function, answered from the cache. */
  wrap<A extends readonly unknown[], R>(
    fn: (...args: A) => R,
    options: WrapOptions<A, Awaited<R>>,
  ): (...args: A) => Promise<Awaited<R>>
  /** Calls `listener` for every such event until the returned function is called. */
  on<E extends EventName>(event: E, listener: Listener<E>): () => void
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
