import { lookupOf, valueOf } from '../lookup/lookup-result.ts'
import type { ManyLoader } from '../batch/batch.ts'
import type { Codec } from '../codec.ts'
import type { Engine } from '../flight/engine.ts'
import type { Call } from '../flight/call.ts'
import { InvalidOptionError, StoreAwayError } from '../errors.ts'
import type { CacheEvents, EventName, Listener, EventChannel } from '../events.ts'
import { type Entry, promiseOf } from '../entry.ts'
import { newEntry } from '../refresh/new-entry.ts'
import { storedKey, uniqueKeys } from '../stored-key.ts'
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
import { callSettings, setSettings, wrapSettings } from '../options/parse-options.ts'
import { requireTtl, type Settings } from '../options/settings.ts'
import type { Runtime } from '../runtime.ts'
import type { Away } from '../store/store.ts'
import { drainTime, getSettings, holdOffTime, readCodec, refuseThenable } from '../options/operation-options.ts'
import type { Cache, Inspected, ReadResult } from './cache.ts'
import type { LoadCoordinator } from '../flight/coordinator.ts'
import type { Lifecycle } from './lifecycle.ts'
import { loadMany } from '../batch/get-or-set-many.ts'

/**
 * Checks what callers hand in, and sends each call on its road. What is wrong with the arguments rejects the promise that a call returns. Several
 * may stand on one coordinator: views of one cache, each with settings of its own.
 */
export class DefaultCache implements Cache {
  readonly #engine: Engine
  readonly #settings: Settings
  readonly #coordinator: LoadCoordinator
  readonly #lifecycle: Lifecycle
  readonly #lookups: LookupRun
  readonly #hitChannel: EventChannel

  constructor(coordinator: LoadCoordinator, lifecycle: Lifecycle, settings: Settings) {
    this.#engine = coordinator.engine
    this.#settings = settings
    this.#coordinator = coordinator
    this.#lifecycle = lifecycle
    this.#lookups = new LookupRun(coordinator)
    this.#hitChannel = coordinator.engine.events.subject('hit')
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
    return resultOf(entry, 'fresh', this.#engine.runtime.coarseNow()) as ReadResult<V>
  }

  get<V = unknown>(key: string, options?: GetOptions<V>): Promise<V | undefined> {
    try {
      const { codec, stale } = getSettings(this.#settings, 'get', options)
      const entry = this.#lookups.peek(this.#storedKey(key), this.#settings, codec)
      if (entry !== undefined) return promiseOf(entry) as Promise<V>
      return this.#read(key, codec).then((found) =>
        stale || found?.state === 'fresh' ? (found?.value as V) : undefined,
      )
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async read<V = unknown>(key: string, options?: ReadOptions<V>): Promise<ReadResult<V> | undefined> {
    return (await this.#read(key, readCodec(this.#settings, 'read', options))) as ReadResult<V> | undefined
  }

  async getMany<V = unknown>(keys: readonly string[], options?: GetOptions<V>): Promise<Map<string, V>> {
    const { codec, stale } = getSettings(this.#settings, 'getMany', options)
    const found = await Promise.all(uniqueKeys(keys).map(async (key) => [key, await this.#read(key, codec)] as const))
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
    const { store, runtime } = this.#engine
    const answer = await store.put(stored, newEntry(value, 0, settings, runtime.random()), settings.codec)
    this.#coordinator.invalidated(stored)
    if (answer.kind === 'unkeepable') throw answer.cause
    this.#confirmExecuted(key, 'set', answer)
  }

  async delete(key: string, options?: InvalidateOptions): Promise<void> {
    await this.#invalidate(key, 'delete', options)
  }

  async expire(key: string, options?: InvalidateOptions): Promise<void> {
    await this.#invalidate(key, 'expire', options)
  }

  async invalidateTags(tags: readonly string[]): Promise<void> {
    this.#lifecycle.throwIfClosed()
    const parsed = tagsRule.parse(tags)
    if (parsed === INVALID) throw new InvalidOptionError('invalidateTags', tags, tagsRule.accepted)
    const answer = await this.#engine.store.invalidateTags(parsed)
    this.#coordinator.invalidatedAll()
    this.#confirmExecuted(parsed.join(' '), 'tags', answer)
  }

  async clear(): Promise<number> {
    this.#lifecycle.throwIfClosed()
    const answer = await this.#engine.store.clear()
    this.#coordinator.invalidatedAll()
    this.#confirmExecuted('*', 'clear', answer)
    return answer.kind === 'cleared' ? answer.entries : 0
  }

  async inspect(key: string): Promise<Inspected | undefined> {
    const stored = this.#storedKey(key)
    const { store, runtime, freshness } = this.#engine
    const answer = await store.inspect(stored)
    if (answer.kind === 'away') return undefined
    const { entry, lease = null, cooldown = null } = answer
    const now = runtime.now()
    const verdict = entry === undefined ? 'gone' : freshness.judge(entry, now, this.#settings)
    return {
      state: verdict === 'gone' ? 'missing' : verdict === 'fresh' ? 'fresh' : 'stale',
      age: entry === undefined ? undefined : now - entry.committedAt,
      freshFor: entry === undefined ? undefined : entry.freshUntil - now,
      lease,
      cooldown,
      waitersHere: this.#coordinator.waitingCalls(stored),
    }
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

  /** The name that the entry is kept by, once all that a call is made of has been looked at. */
  #checkCall(key: string, loader: Loader<unknown, never>, settings: Settings): string {
    const stored = this.#storedKey(key)
    requireTtl(settings)
    if (typeof loader !== 'function') refuseLoader(loader)
    return stored
  }

  /** The name that the entry of the key is kept by. */
  #storedKey(key: unknown): string {
    this.#lifecycle.throwIfClosed()
    return storedKey(key)
  }

  async #read(key: string, codec: Codec): Promise<ReadResult<unknown> | undefined> {
    const stored = this.#storedKey(key)
    const { runtime, freshness } = this.#engine
    const found = this.#lookups.peek(stored, this.#settings, codec) ?? (await this.#lookups.read(stored, codec))
    if (found === undefined) return undefined
    const now = runtime.now()
    const verdict = freshness.judge(found, now, this.#settings)
    return verdict === 'gone' ? undefined : resultOf(found, verdict === 'fresh' ? 'fresh' : 'stale', now)
  }

  async #invalidate(key: string, how: 'delete' | 'expire', options: InvalidateOptions | undefined): Promise<void> {
    const stored = this.#storedKey(key)
    const answer = await this.#engine.store.invalidate(stored, how, holdOffTime(how, options))
    this.#coordinator.invalidated(stored)
    this.#confirmExecuted(key, how, answer)
  }

  /** What began before has let go of its joiners by now; only then is a silent store an error. */
  #confirmExecuted(key: string, how: CacheEvents['invalidate']['how'], answer: { readonly kind: string } | Away): void {
    const { events } = this.#engine
    if ('cause' in answer) {
      if (events.hasListeners('away')) events.emit('away', { key, step: how, error: answer.cause })
      throw new StoreAwayError(how, key, answer)
    }
    if (events.hasListeners('invalidate')) events.emit('invalidate', { key, how })
  }
}

/** In the place of the loader of many keys. */
const NO_LOADER = (): undefined => undefined

function resultOf(
  { value, committedAt, freshUntil }: Entry,
  state: 'fresh' | 'stale',
  now: number,
): ReadResult<unknown> {
  return { value, state, age: now - committedAt, freshFor: freshUntil - now }
}

function refuseLoader(loader: unknown): never {
  throw new InvalidOptionError('loader', loader, 'a function (load) => value')
}
