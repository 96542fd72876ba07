import type { Codec } from './codec.ts'
import type { Call, Engine } from './engine.ts'
import { ClosedError, InvalidKeyError, InvalidOptionError, StoreAwayError } from './errors.ts'
import type { EventName, Listener } from './events.ts'
import { newEntry } from './lead.ts'
import type { Loader } from './load.ts'
import type { CallOptions, CloseOptions, GetOptions, ReadOptions, SetOptions, WrapOptions } from './options.ts'
import { type Lookup, Refresher } from './refresh.ts'
import {
  callSettings,
  drainTime,
  getSettings,
  readCodec,
  requireTtl,
  type Settings,
  setSettings,
  wrapSettings,
} from './settings.ts'
import type { Away } from './store/store.ts'

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
  wrap<F extends (...args: never[]) => unknown>(
    fn: F,
    options: WrapOptions<F>,
  ): (...args: Parameters<F>) => Promise<Awaited<ReturnType<F>>>
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

/** Longer keys are refused: they cost memory in every process and a copy in every command. */
const LONGEST_KEY = 8192

/** Checks what callers hand in, and sends each call on its road. */
export class EngineCache implements Cache {
  readonly #engine: Engine
  readonly #settings: Settings
  readonly #refresher: Refresher
  readonly #unwatch: () => void
  #closing: Promise<void> | undefined

  constructor(engine: Engine, settings: Settings) {
    this.#engine = engine
    this.#settings = settings
    this.#refresher = new Refresher(engine)
    this.#unwatch = engine.store.watch((notice) => this.#refresher.notice(notice))
  }

  get shared(): boolean {
    return this.#engine.store.shared
  }

  getOrSet<V, S = V>(key: string, loader: Loader<V, S>, options?: CallOptions<V>): Promise<V> {
    return rejectThrown(() => this.#value(key, loader, callSettings(this.#settings, options, 'getOrSet'))) as Promise<V>
  }

  async lookup<V, S = V>(key: string, loader: Loader<V, S>, options?: CallOptions<V>): Promise<Lookup<V>> {
    const call = this.#call(key, loader, callSettings(this.#settings, options, 'lookup'))
    const entry = this.#refresher.peek(key, call.settings)
    const { lookup, own } = entry === undefined ? await this.#refresher.walk(call) : this.#refresher.serve(key, entry)
    return (own === undefined ? lookup : { ...lookup, outcome: await own.outcome }) as Lookup<V>
  }

  async get<V = unknown>(key: string, options?: GetOptions<V>): Promise<V | undefined> {
    const { codec, stale } = getSettings(this.#settings, options)
    const found = await this.#read(key, codec)
    return found !== undefined && (stale || found.state === 'fresh') ? (found.value as V) : undefined
  }

  async read<V = unknown>(key: string, options?: ReadOptions<V>): Promise<ReadResult<V> | undefined> {
    return (await this.#read(key, readCodec(this.#settings, options))) as ReadResult<V> | undefined
  }

  async set<V>(key: string, value: V, options?: SetOptions<V>): Promise<void> {
    this.#check(key)
    const settings = setSettings(this.#settings, options)
    const { store, runtime } = this.#engine
    const answer = await store.put(key, newEntry(value, 0, settings, runtime.random()), settings.codec)
    if (answer.kind === 'unkeepable') throw answer.cause
    this.#executed(key, 'set', answer)
  }

  delete(key: string): Promise<void> {
    return this.#invalidate(key, 'delete')
  }

  expire(key: string): Promise<void> {
    return this.#invalidate(key, 'expire')
  }

  wrap<F extends (...args: never[]) => unknown>(
    fn: F,
    options: WrapOptions<F>,
  ): (...args: Parameters<F>) => Promise<Awaited<ReturnType<F>>> {
    const { key, settings } = wrapSettings(this.#settings, options)
    const value = this.#value.bind(this)
    return function (this: unknown, ...args) {
      const loader = (): unknown => Reflect.apply(fn, this, args)
      return rejectThrown(() => value(key(...args), loader, settings)) as Promise<Awaited<ReturnType<F>>>
    }
  }

  on<E extends EventName>(event: E, listener: Listener<E>): () => void {
    return this.#engine.events.on(event, listener)
  }

  close(options?: CloseOptions): Promise<void> {
    this.#closing ??= this.#close(options)
    return this.#closing
  }

  #value(key: string, loader: Loader<unknown, never>, settings: Settings): Promise<unknown> {
    const call = this.#call(key, loader, settings)
    const entry = this.#refresher.peek(key, settings)
    if (entry === undefined) return this.#refresher.walk(call).then(({ lookup }) => lookup.value)
    if (this.#engine.events.heard('hit')) this.#refresher.serve(key, entry)
    return Promise.resolve(entry.value)
  }

  #call(key: string, loader: Loader<unknown, never>, settings: Settings): Call {
    this.#check(key)
    requireTtl(settings)
    if (typeof loader !== 'function') throw new InvalidOptionError('loader', loader, 'a function (load) => value')
    return { key, loader, settings }
  }

  #check(key: unknown): void {
    if (this.#closing !== undefined) throw new ClosedError()
    if (typeof key !== 'string' || key.length > LONGEST_KEY) {
      throw new InvalidKeyError(key, `a string of at most ${LONGEST_KEY} characters; hash what is longer`)
    }
  }

  async #read(key: string, codec: Codec): Promise<ReadResult<unknown> | undefined> {
    this.#check(key)
    const { runtime, freshness } = this.#engine
    const found = await this.#refresher.read(key, codec)
    if (found === undefined) return undefined
    const now = runtime.now()
    const verdict = freshness.judge(found, now, this.#settings)
    if (verdict === 'gone') return undefined
    const { value, bornAt, freshUntil } = found
    return { value, state: verdict === 'fresh' ? 'fresh' : 'stale', age: now - bornAt, freshFor: freshUntil - now }
  }

  async #invalidate(key: string, how: 'delete' | 'expire'): Promise<void> {
    this.#check(key)
    this.#executed(key, how, await this.#engine.store.invalidate(key, how, 0))
  }

  /** What began before lets go of its joiners in any case, and before the promise settles; only then is a silent store an error. */
  #executed(key: string, how: 'set' | 'delete' | 'expire', answer: { readonly kind: 'done' | 'stored' } | Away): void {
    this.#refresher.invalidated(key)
    const { events } = this.#engine
    if (answer.kind === 'away') {
      if (events.heard('away')) events.emit('away', { key, step: how, error: answer.cause })
      throw new StoreAwayError(how, key, answer.cause)
    }
    if (events.heard('invalidate')) events.emit('invalidate', { key, how })
  }

  async #close(options: CloseOptions | undefined): Promise<void> {
    const abandoned = await this.#refresher.close(drainTime(options), new ClosedError())
    this.#unwatch()
    await this.#engine.store.close()
    this.#engine.events.emit('close', { abandoned })
  }
}

/** A promise is the only way out of a call: what is wrong with its arguments rejects it too. */
function rejectThrown(ask: () => Promise<unknown>): Promise<unknown> {
  try {
    return ask()
  } catch (error) {
    return Promise.reject(error)
  }
}
