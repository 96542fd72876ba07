import { lookupOf, valueOf } from '../lookup/lookup-result.ts'
import type { ManyLoader } from '../batch/batch.ts'
import type { Engine } from '../flight/engine.ts'
import type { Call } from '../flight/call.ts'
import { InvalidOptionError } from '../errors.ts'
import type { EventName, Listener, EventChannel } from '../events.ts'
import { promiseOf } from '../entry.ts'
import { storedKey, uniqueKeys } from '../options/stored-key.ts'
import type { Loader } from '../load.ts'
import { INVALID, tagsRule } from '../option-rules.ts'
import type {
  CallOptions,
  CloseOptions,
  GetOptions,
  InvalidateOptions,
  ReadOptions,
  SetOptions,
  WrapOptions,
} from '../options/options.ts'
import type { Lookup } from '../lookup/lookup.ts'
import { LookupRun } from '../lookup/lookup-run.ts'
import { callSettings, setSettings, wrapSettings } from '../options/parse-call-options.ts'
import { requireTtl, type Settings } from '../options/settings.ts'
import type { Runtime } from '../runtime.ts'
import { drainTime, getSettings, holdOffTime, readCodec, refuseThenable } from '../options/operation-options.ts'
import type { Cache, Inspected, ReadResult } from './cache.ts'
import { EntryReader, readResultOf } from './entry-reader.ts'
import { EntryWriter } from './entry-writer.ts'
import type { LoadCoordinator } from '../flight/coordinator.ts'
import type { Lifecycle } from './lifecycle.ts'
import { loadMany } from '../batch/get-or-set-many.ts'

/**
 * Checks the arguments of every call, and passes it on. An invalid argument rejects the promise that the call returns. The views of one cache
 * are several of these with different settings: they share the coordinator and the lifecycle.
 */
export class DefaultCache implements Cache {
  readonly #engine: Engine
  readonly #settings: Settings
  readonly #coordinator: LoadCoordinator
  readonly #lifecycle: Lifecycle
  readonly #lookups: LookupRun
  readonly #reader: EntryReader
  readonly #writer: EntryWriter
  readonly #hitChannel: EventChannel

  constructor(coordinator: LoadCoordinator, lifecycle: Lifecycle, settings: Settings) {
    this.#engine = coordinator.engine
    this.#settings = settings
    this.#coordinator = coordinator
    this.#lifecycle = lifecycle
    this.#lookups = new LookupRun(coordinator)
    this.#reader = new EntryReader(coordinator, this.#lookups, settings)
    this.#writer = new EntryWriter(coordinator)
    this.#hitChannel = coordinator.engine.events.channelOf('hit')
  }

  get shared(): boolean {
    return this.#engine.store.shared
  }

  get paused(): boolean {
    return this.#coordinator.paused
  }

  get runtime(): Runtime {
    return this.#engine.runtime
  }

  with(options: CallOptions): Cache {
    return new DefaultCache(this.#coordinator, this.#lifecycle, callSettings(this.#settings, options, 'with'))
  }

  getOrSet<V, S = V>(key: string, loader: Loader<V, S>, options?: CallOptions<V>): Promise<V> {
    try {
      return this.#value(key, loader, callSettings(this.#settings, options, 'getOrSet')) as Promise<V>
    } catch (error) {
      return Promise.reject(error)
    }
  }

  lookup<V, S = V>(key: string, loader: Loader<V, S>, options?: CallOptions<V>): Promise<Lookup<V>> {
    try {
      const call = this.#call(key, loader, callSettings(this.#settings, options, 'lookup'))
      const entry = this.#lookups.peek(call.key, call.settings)
      return (
        entry === undefined
          ? this.#lookups.run(call, lookupOf)
          : Promise.resolve(lookupOf(this.#lookups.serveHit(call.key, entry)))
      ) as Promise<Lookup<V>>
    } catch (error) {
      return Promise.reject(error)
    }
  }

  peek<V = unknown>(key: string, options?: ReadOptions<V>): ReadResult<V> | undefined {
    const stored = this.#storedKey(key)
    const entry = this.#lookups.peek(stored, this.#settings, readCodec(this.#settings, 'peek', options))
    if (entry === undefined) return undefined
    if (this.#hitChannel.hasListeners) this.#lookups.serveHit(stored, entry)
    return readResultOf(entry, 'fresh', this.#engine.runtime.coarseNow()) as ReadResult<V>
  }

  get<V = unknown>(key: string, options?: GetOptions<V>): Promise<V | undefined> {
    try {
      const { codec, stale } = getSettings(this.#settings, 'get', options)
      const stored = this.#storedKey(key)
      const entry = this.#lookups.peek(stored, this.#settings, codec)
      if (entry !== undefined) return promiseOf(entry) as Promise<V>
      return this.#reader
        .read(stored, codec)
        .then((found) => (stale || found?.state === 'fresh' ? (found?.value as V) : undefined))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async read<V = unknown>(key: string, options?: ReadOptions<V>): Promise<ReadResult<V> | undefined> {
    const codec = readCodec(this.#settings, 'read', options)
    return (await this.#reader.read(this.#storedKey(key), codec)) as ReadResult<V> | undefined
  }

  async getMany<V = unknown>(keys: readonly string[], options?: GetOptions<V>): Promise<Map<string, V>> {
    const { codec, stale } = getSettings(this.#settings, 'getMany', options)
    const reads = uniqueKeys(keys).map(
      async (key) => [key, await this.#reader.read(this.#storedKey(key), codec)] as const,
    )
    const found = await Promise.all(reads)
    return new Map(
      found.flatMap(([key, read]) =>
        read !== undefined && (stale || read.state === 'fresh') ? [[key, read.value as V] as const] : [],
      ),
    )
  }

  async getOrSetMany<V>(
    keys: readonly string[],
    loader: ManyLoader<V>,
    options?: CallOptions<V>,
  ): Promise<Map<string, V>> {
    const settings = callSettings(this.#settings, options, 'getOrSetMany')
    if (typeof loader !== 'function') throw new InvalidOptionError('loader', loader, 'a function (keys, load) => Map')
    const calls = uniqueKeys(keys).map((key) => this.#call(key, NO_LOADER, settings))
    return await loadMany(calls, loader, this.#engine, this.#lookups)
  }

  async refresh<V, S = V>(key: string, loader: Loader<V, S>, options?: CallOptions<V>): Promise<V> {
    const call = this.#call(key, loader, callSettings(this.#settings, options, 'refresh'))
    return (await this.#lookups.forceRefresh(call)).value as V
  }

  async set<V>(key: string, value: V, options?: SetOptions<V>): Promise<void> {
    const stored = this.#storedKey(key)
    const settings = setSettings(this.#settings, options)
    refuseThenable(value)
    await this.#writer.set(key, stored, value, settings)
  }

  async delete(key: string, options?: InvalidateOptions): Promise<void> {
    await this.#writer.invalidate(key, this.#storedKey(key), 'delete', holdOffTime('delete', options))
  }

  async expire(key: string, options?: InvalidateOptions): Promise<void> {
    await this.#writer.invalidate(key, this.#storedKey(key), 'expire', holdOffTime('expire', options))
  }

  async invalidateTags(tags: readonly string[]): Promise<void> {
    this.#lifecycle.throwIfClosed()
    const parsed = tagsRule.parse(tags)
    if (parsed === INVALID) throw new InvalidOptionError('invalidateTags', tags, tagsRule.accepted)
    await this.#writer.invalidateTags(parsed)
  }

  async clear(): Promise<number> {
    this.#lifecycle.throwIfClosed()
    return await this.#writer.clear()
  }

  async inspect(key: string): Promise<Inspected | undefined> {
    return await this.#reader.inspect(this.#storedKey(key))
  }

  wrap<F extends (...args: never[]) => unknown>(
    fn: F,
    options: WrapOptions<F>,
  ): (...args: Parameters<F>) => Promise<Awaited<ReturnType<F>>> {
    if (typeof fn !== 'function') throw new InvalidOptionError('wrap', fn, 'a function to wrap')
    const { key, settings } = wrapSettings(this.#settings, options, 'wrap')
    const value = this.#value.bind(this)
    return function (this: unknown, ...args) {
      const loader = (): unknown => Reflect.apply(fn, this, args)
      try {
        return value(key(...args), loader, settings) as Promise<Awaited<ReturnType<F>>>
      } catch (error) {
        return Promise.reject(error)
      }
    }
  }

  on<E extends EventName>(event: E, listener: Listener<E>): () => void {
    return this.#engine.events.on(event, listener)
  }

  pause(): void {
    this.#coordinator.paused = true
  }

  resume(): void {
    this.#coordinator.paused = false
  }

  async close(options?: CloseOptions): Promise<void> {
    await this.#lifecycle.close(drainTime(options))
  }

  #value(key: string, loader: Loader<unknown, never>, settings: Settings): Promise<unknown> {
    const stored = this.#checkCall(key, loader, settings)
    const entry = this.#lookups.peek(stored, settings)
    if (entry === undefined) return this.#runLookup(stored, key, loader, settings)
    if (this.#hitChannel.hasListeners) this.#lookups.serveHit(stored, entry)
    return promiseOf(entry)
  }

  #runLookup(key: string, requestedKey: string, loader: Loader<unknown, never>, settings: Settings): Promise<unknown> {
    return this.#lookups.run({ key, requestedKey, loader, settings }, valueOf)
  }

  #call(key: string, loader: Loader<unknown, never>, settings: Settings): Call {
    return { key: this.#checkCall(key, loader, settings), requestedKey: key, loader, settings }
  }

  /** Checks the arguments of a call that may load, and returns the stored key. */
  #checkCall(key: string, loader: Loader<unknown, never>, settings: Settings): string {
    const stored = this.#storedKey(key)
    requireTtl(settings)
    if (typeof loader !== 'function') refuseLoader(loader)
    return stored
  }

  #storedKey(key: unknown): string {
    this.#lifecycle.throwIfClosed()
    return storedKey(key)
  }
}

/** Fills `Call.loader` until the batch replaces it. */
const NO_LOADER = (): undefined => undefined

function refuseLoader(loader: unknown): never {
  throw new InvalidOptionError('loader', loader, 'a function (load) => value')
}
