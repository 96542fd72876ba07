import type { ManyLoader } from '../batch/many-loader.ts'
import { type Call, SingleCall } from '../flight/call.ts'
import type { PermitSource } from '../flight/permits.ts'
import type { EventName, Listener } from '../events/cache-events.ts'
import { promiseOf } from '../entry.ts'
import { isDigest, storedKey, storedKeys } from '../options/stored-key.ts'
import type { Claim } from '../claimed.ts'
import type { Loader } from '../load.ts'
import { requireFunction } from '../option-rules/check-options.ts'
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
import type { Lookup } from '../lookup/result.ts'
import { Claims } from '../lookup/claims.ts'
import { Lookups } from '../lookup/lookup.ts'
import { callSettings, setSettings, viewSettings, wrapSettings } from '../options/parse-call-options.ts'
import { requireTtl, type Settings } from '../options/settings.ts'
import type { Runtime } from '../runtime/runtime.ts'
import {
  checkedTags,
  drainTime,
  getSettings,
  endOfExpiry,
  holdOffTime,
  readCodec,
  readyTimeout,
  storedValues,
  takesDigest,
} from '../options/operation-options.ts'
import type { Cache, ReadResult } from './cache.ts'
import type { Inspected } from './inspected.ts'
import { EntryReader, readResultOf } from './entry-reader.ts'
import { EntryWriter } from './entry-writer.ts'
import type { CacheStats } from '../activity.ts'
import type { LoadCoordinator } from '../flight/coordinator.ts'
import type { Store } from '../store/store.ts'
import type { Lifecycle } from './lifecycle.ts'
import { waitForStore } from './wait-for-store.ts'
import { wrapFunction } from './wrap-function.ts'
import { lookUpMany } from '../batch/get-or-set-many.ts'

/**
 * Checks the arguments of every call, and passes it on. An invalid argument rejects the promise that the call
 * returns. The views of one cache are several of these with different settings: they share the coordinator
 * and the lifecycle.
 */
export class DefaultCache implements Cache {
  readonly root: Cache
  readonly store: Store
  readonly #settings: Settings
  readonly #coordinator: LoadCoordinator
  readonly #lifecycle: Lifecycle
  readonly #permits: PermitSource
  readonly #lookups: Lookups
  readonly #claims: Claims
  readonly #reader: EntryReader
  readonly #writer: EntryWriter

  constructor(
    coordinator: LoadCoordinator,
    lifecycle: Lifecycle,
    store: Store,
    settings: Settings,
    permits: PermitSource = coordinator.services.permits.ofCache,
    root?: Cache,
  ) {
    this.root = root ?? this
    this.store = store
    this.#settings = settings
    this.#coordinator = coordinator
    this.#lifecycle = lifecycle
    this.#permits = permits
    this.#lookups = new Lookups(coordinator, permits)
    this.#claims = new Claims(coordinator, this.#lookups, settings, permits)
    this.#reader = new EntryReader(coordinator, this.#lookups, settings)
    this.#writer = new EntryWriter(coordinator)
  }

  get shared(): boolean {
    return this.#coordinator.services.store.shared
  }

  get closed(): boolean {
    return this.#lifecycle.closed
  }

  get paused(): boolean {
    return this.#coordinator.paused
  }

  get windows(): Cache['windows'] {
    const { ttl, staleWhileRevalidate, staleIfError } = this.#settings
    return { ttl, staleWhileRevalidate, staleIfError }
  }

  get name(): string {
    return this.#coordinator.services.events.cacheName
  }

  get runtime(): Runtime {
    return this.#coordinator.services.runtime
  }

  with(options: ViewOptions): Cache {
    const { settings, maxLoads, source } = viewSettings(this.#settings, options)
    return this.#withSettings(settings, this.#coordinator.services.permits.ofView(this.#permits, maxLoads, source))
  }

  getOrSet<V, S = V>(key: string, loader: Loader<V, S>, options?: CallOptions<V>): Promise<V> {
    try {
      const settings = callSettings(this.#settings, options, 'getOrSet')
      return this.#lookups.value(this.#checkCall(key, loader, settings), key, loader, settings) as Promise<V>
    } catch (error) {
      return Promise.reject(error)
    }
  }

  lookup<V, S = V>(key: string, loader: Loader<V, S>, options?: CallOptions<V>): Promise<Lookup<V>> {
    try {
      const settings = callSettings(this.#settings, options, 'lookup')
      return this.#lookups.lookup(this.#call(key, loader, settings)) as Promise<Lookup<V>>
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async claim<V>(key: string, options?: ClaimOptions<V>): Promise<Claim<V>> {
    return (await this.#claims.claim(this.#acceptKey(key), key, options)) as Claim<V>
  }

  peek<V = unknown>(key: string, options?: ReadOptions<V>): ReadResult<V> | undefined {
    const stored = this.#acceptKey(key)
    const entry = this.#lookups.peek(stored, this.#settings, readCodec(this.#settings, 'peek', options))
    if (entry === undefined) return undefined
    this.#lookups.noteHit(stored, entry)
    return readResultOf(entry, entry.value, 'fresh', this.#coordinator.services.runtime.coarseNow()) as ReadResult<V>
  }

  get<V = unknown>(key: string, options?: GetOptions<V>): Promise<V | undefined> {
    try {
      const { codec, stale } = getSettings(this.#settings, 'get', options)
      const stored = this.#acceptKey(key)
      const entry = this.#lookups.peekIgnoringEarlyRefresh(stored, this.#settings, codec)
      if (entry !== undefined) return promiseOf(entry) as Promise<V>
      return this.#reader.value(stored, codec, stale) as Promise<V | undefined>
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async read<V = unknown>(key: string, options?: ReadOptions<V>): Promise<ReadResult<V> | undefined> {
    const codec = readCodec(this.#settings, 'read', options)
    return (await this.#reader.read(this.#acceptKey(key), codec)) as ReadResult<V> | undefined
  }

  async getMany<V = unknown>(keys: readonly string[], options?: GetOptions<V>): Promise<Map<string, V>> {
    const { codec, stale } = getSettings(this.#settings, 'getMany', options)
    this.#lifecycle.throwIfClosed()
    return (await this.#reader.values(storedKeys(keys), codec, stale)) as Map<string, V>
  }

  getOrSetMany<V>(keys: readonly string[], loader: ManyLoader<V>, options?: CallOptions<V>): Promise<Map<string, V>> {
    try {
      const settings = callSettings(this.#settings, options, 'getOrSetMany')
      this.#lifecycle.throwIfClosed()
      const call = { keys: storedKeys(keys), loader, settings, permits: this.#permits }
      requireTtl(settings)
      requireFunction('loader', loader, 'a function (keys, load) => Map')
      return lookUpMany(call, this.#coordinator.services, this.#lookups) as Promise<Map<string, V>>
    } catch (error) {
      return Promise.reject(error)
    }
  }

  refresh<V, S = V>(key: string, loader: Loader<V, S>, options?: CallOptions<V>): Promise<V> {
    try {
      const call = this.#call(key, loader, callSettings(this.#settings, options, 'refresh'))
      return this.#lookups.forceRefresh(call) as Promise<V>
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async set<V>(key: string, value: V, options?: SetOptions<V>): Promise<void> {
    await this.#writer.set(this.#acceptKey(key), value, setSettings(this.#settings, options, 'set'))
  }

  async setMany<V>(values: ReadonlyMap<string, V>, options?: SetOptions<V>): Promise<void> {
    const settings = setSettings(this.#settings, options, 'setMany')
    this.#lifecycle.throwIfClosed()
    await this.#writer.setMany(storedValues(values), settings)
  }

  async delete(key: string, options?: InvalidateOptions): Promise<void> {
    await this.#writer.invalidate(this.#acceptKey(key), 'delete', holdOffTime('delete', options))
  }

  async deleteMany(keys: readonly string[], options?: InvalidateOptions): Promise<void> {
    const holdOff = holdOffTime('deleteMany', options)
    this.#lifecycle.throwIfClosed()
    await this.#writer.deleteMany(
      storedKeys(keys).map(([, key]) => key),
      holdOff,
    )
  }

  async expire(key: string, options?: InvalidateOptions): Promise<void> {
    await this.#writer.invalidate(this.#acceptKey(key), 'expire', holdOffTime('expire', options))
  }

  async invalidateTags(tags: readonly string[]): Promise<void> {
    this.#lifecycle.throwIfClosed()
    await this.#writer.invalidateTags(checkedTags('invalidateTags', tags), 'delete')
  }

  async expireTags(tags: readonly string[], options?: ExpireTagsOptions): Promise<void> {
    const deleteAfter = endOfExpiry(options)
    this.#lifecycle.throwIfClosed()
    await this.#writer.invalidateTags(checkedTags('expireTags', tags), 'expire', deleteAfter)
  }

  async clear(): Promise<number> {
    this.#lifecycle.throwIfClosed()
    return await this.#writer.clear()
  }

  async inspect(key: string, options?: InspectOptions): Promise<Inspected | undefined> {
    const asDigest = takesDigest(options)
    this.#lifecycle.throwIfClosed()
    return await this.#reader.inspect(asDigest && isDigest(key) ? key : storedKey(key))
  }

  wrap<F extends (...args: never[]) => unknown>(
    fn: F,
    options: WrapOptions<F>,
  ): (...args: Parameters<F>) => Promise<Awaited<ReturnType<F>>> {
    requireFunction('wrap', fn, 'a function to wrap, then its options; getOrSet(key, loader) takes a key')
    const { key, settings } = wrapSettings(this.#settings, options, 'wrap')
    return wrapFunction(this.#withSettings(settings), fn, key)
  }

  on<E extends EventName>(event: E, listener: Listener<E>): () => void {
    return this.#coordinator.services.events.on(event, listener)
  }

  stats(): CacheStats {
    const { activity, admission } = this.#coordinator.services
    return activity.stats(admission.waiters)
  }

  pause(): void {
    this.#coordinator.paused = true
  }

  resume(): void {
    this.#coordinator.paused = false
  }

  async ready(options?: ReadyOptions): Promise<void> {
    await waitForStore(this.#coordinator.services, readyTimeout(options), () => this.#lifecycle.throwIfClosed())
  }

  async close(options?: CloseOptions): Promise<void> {
    await this.#lifecycle.close(drainTime(options))
  }

  #withSettings(settings: Settings, permits: PermitSource = this.#permits): DefaultCache {
    return new DefaultCache(this.#coordinator, this.#lifecycle, this.store, settings, permits, this.root)
  }

  #call(key: string, loader: Loader<unknown, never>, settings: Settings): Call {
    return new SingleCall(this.#checkCall(key, loader, settings), key, loader, settings, this.#permits)
  }

  /** Checks the arguments of a call that may load, and returns the stored key. */
  #checkCall(key: string, loader: Loader<unknown, never>, settings: Settings): string {
    const stored = this.#acceptKey(key)
    requireTtl(settings)
    requireFunction('loader', loader, 'a function (load) => value, not what it returns')
    return stored
  }

  #acceptKey(key: unknown): string {
    this.#lifecycle.throwIfClosed()
    return storedKey(key)
  }
}
