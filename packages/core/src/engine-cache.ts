import type { EndTurn } from './admission.ts'
import { ABSENT, Batch, batchTurn, type ManyLoader } from './batch.ts'
import type { Codec } from './codec.ts'
import type { Call, Engine } from './engine.ts'
import { ClosedError, InvalidKeyError, InvalidOptionError, StoreAwayError, WaitTimeoutError } from './errors.ts'
import type { CacheEvents, EventName, Listener } from './events.ts'
import { newEntry } from './lead.ts'
import type { Loader } from './load.ts'
import { INVALID } from './option-check.ts'
import type {
  CallOptions,
  CloseOptions,
  GetOptions,
  InvalidateOptions,
  ReadOptions,
  SetOptions,
  WrapOptions,
} from './options.ts'
import type { Lookup } from './lookup.ts'
import { Refresher } from './refresh.ts'
import { callSettings, setSettings, wrapSettings } from './parse-options.ts'
import { requireTtl, type Settings } from './settings.ts'
import type { Away } from './store/store.ts'
import { tagsRule } from './tags.ts'
import { drainTime, getSettings, holdOffTime, readCodec } from './verb-options.ts'
import type { Cache, Inspected, ReadResult } from './cache.ts'
import { Deck } from './deck.ts'

/** Longer keys are refused: they cost memory in every process and a copy in every command. */
const LONGEST_KEY = 8192

/** Checks what callers hand in, and sends each call on its road. */
export class EngineCache implements Cache {
  readonly #engine: Engine
  readonly #settings: Settings
  readonly #deck: Deck
  readonly #refresher: Refresher
  readonly #unwatch: () => void
  #closing: Promise<void> | undefined

  constructor(engine: Engine, settings: Settings) {
    this.#engine = engine
    this.#settings = settings
    this.#deck = new Deck(engine)
    this.#refresher = new Refresher(this.#deck)
    this.#unwatch = engine.store.watch((notice) => this.#deck.notice(notice))
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
    const { codec, stale } = getSettings(this.#settings, 'get', options)
    const found = await this.#read(key, codec)
    return found !== undefined && (stale || found.state === 'fresh') ? (found.value as V) : undefined
  }

  async read<V = unknown>(key: string, options?: ReadOptions<V>): Promise<ReadResult<V> | undefined> {
    return (await this.#read(key, readCodec(this.#settings, options))) as ReadResult<V> | undefined
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
    const unique = uniqueKeys(keys)
    const batch = new Batch(unique, loader, this.#engine.admission, await this.#batchTurn(unique, settings))
    const answers = await Promise.allSettled(unique.map((key) => this.#member(key, batch, settings)))
    const values = new Map<string, V>()
    for (const [index, answer] of answers.entries()) {
      if (answer.status === 'rejected') throw answer.reason
      if (answer.value !== ABSENT) values.set(unique[index] ?? '', answer.value as V)
    }
    return values
  }

  async refresh<V, S = V>(key: string, loader: Loader<V, S>, options?: CallOptions<V>): Promise<V> {
    const call = this.#call(key, loader, callSettings(this.#settings, options, 'refresh'))
    return (await this.#refresher.renew(call)).lookup.value as V
  }

  async set<V>(key: string, value: V, options?: SetOptions<V>): Promise<void> {
    this.#check(key)
    const settings = setSettings(this.#settings, options)
    const { store, runtime } = this.#engine
    const answer = await store.put(key, newEntry(value, 0, settings, runtime.random()), settings.codec)
    this.#deck.invalidated(key)
    if (answer.kind === 'unkeepable') throw answer.cause
    this.#executed(key, 'set', answer)
  }

  async delete(key: string, options?: InvalidateOptions): Promise<void> {
    await this.#invalidate(key, 'delete', options)
  }

  async expire(key: string, options?: InvalidateOptions): Promise<void> {
    await this.#invalidate(key, 'expire', options)
  }

  async invalidateTags(tags: readonly string[]): Promise<void> {
    this.#checkOpen()
    const parsed = tagsRule.parse(tags)
    if (parsed === INVALID) throw new InvalidOptionError('invalidateTags', tags, tagsRule.accepted)
    const answer = await this.#engine.store.invalidateTags(parsed)
    this.#deck.invalidatedAll()
    this.#executed(parsed.join(' '), 'tags', answer)
  }

  async clear(): Promise<number> {
    this.#checkOpen()
    const answer = await this.#engine.store.clear()
    this.#deck.invalidatedAll()
    this.#executed('*', 'clear', answer)
    return answer.kind === 'cleared' ? answer.entries : 0
  }

  async inspect(key: string): Promise<Inspected | undefined> {
    this.#check(key)
    const { store, runtime, freshness } = this.#engine
    const answer = await store.inspect(key)
    if (answer.kind === 'away') return undefined
    const { entry, lease = null, cooldown = null } = answer
    const now = runtime.now()
    const verdict = entry === undefined ? 'gone' : freshness.judge(entry, now, this.#settings)
    return {
      state: verdict === 'gone' ? 'missing' : verdict === 'fresh' ? 'fresh' : 'stale',
      age: entry === undefined ? undefined : now - entry.bornAt,
      freshFor: entry === undefined ? undefined : entry.freshUntil - now,
      lease,
      cooldown,
      waitersHere: this.#deck.waiting(key),
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
      return rejectThrown(() => value(key(...args), loader, settings)) as Promise<Awaited<ReturnType<F>>>
    }
  }

  on<E extends EventName>(event: E, listener: Listener<E>): () => void {
    return this.#engine.events.on(event, listener)
  }

  async close(options?: CloseOptions): Promise<void> {
    const drain = drainTime(options)
    this.#closing ??= this.#close(drain)
    await this.#closing
  }

  #value(key: string, loader: Loader<unknown, never>, settings: Settings): Promise<unknown> {
    const call = this.#call(key, loader, settings)
    const entry = this.#refresher.peek(key, settings)
    if (entry === undefined) return this.#refresher.walk(call).then(({ lookup }) => lookup.value)
    if (this.#engine.events.heard('hit')) this.#refresher.serve(key, entry)
    return Promise.resolve(entry.value)
  }

  /** A turn for the loads of many keys; none where all of them are at hand. */
  async #batchTurn(keys: readonly string[], settings: Settings): Promise<EndTurn | undefined> {
    const { admission, runtime } = this.#engine
    const missing = keys.find((key) => this.#refresher.peek(key, settings) === undefined)
    if (missing === undefined) return undefined
    const turn = await batchTurn(admission, runtime, settings.waitTimeout)
    if (turn === undefined) throw new WaitTimeoutError(missing, settings.waitTimeout)
    return turn
  }

  async #member(key: string, batch: Batch, settings: Settings): Promise<unknown> {
    const decide = (): void => batch.decide(key)
    try {
      const call = this.#call(key, batch.loaderOf(key), settings)
      const { lookup } = await this.#refresher.walk({ ...call, turnless: true, onWait: decide })
      // Its load may still begin, behind the stale value.
      if (lookup.refresh === undefined) decide()
      else void lookup.refresh.then(decide)
      return lookup.value
    } catch (error) {
      decide()
      throw error
    }
  }

  #call(key: string, loader: Loader<unknown, never>, settings: Settings): Call {
    this.#check(key)
    requireTtl(settings)
    if (typeof loader !== 'function') throw new InvalidOptionError('loader', loader, 'a function (load) => value')
    return { key, loader, settings }
  }

  /** While it closes, loads that still run may ask for what they need; once it is closed nobody may. */
  #checkOpen(): void {
    if (this.#closing === undefined) return
    if (this.#deck.closed || this.#engine.admission.inside.length === 0) throw new ClosedError()
  }

  #check(key: unknown): void {
    this.#checkOpen()
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

  async #invalidate(key: string, how: 'delete' | 'expire', options: InvalidateOptions | undefined): Promise<void> {
    this.#check(key)
    const answer = await this.#engine.store.invalidate(key, how, holdOffTime(how, options))
    this.#deck.invalidated(key)
    this.#executed(key, how, answer)
  }

  /** What began before has let go of its joiners by now; only then is a silent store an error. */
  #executed(key: string, how: CacheEvents['invalidate']['how'], answer: { readonly kind: string } | Away): void {
    const { events } = this.#engine
    if ('cause' in answer) {
      if (events.heard('away')) events.emit('away', { key, step: how, error: answer.cause })
      throw new StoreAwayError(how, key, answer.cause)
    }
    if (events.heard('invalidate')) events.emit('invalidate', { key, how })
  }

  async #close(drain: number): Promise<void> {
    const abandoned = await this.#deck.close(drain, new ClosedError())
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

function uniqueKeys(keys: readonly string[]): readonly string[] {
  const list: unknown = keys
  if (!Array.isArray(list)) throw new InvalidKeyError(list, 'an array of strings')
  return [...new Set(keys)]
}
