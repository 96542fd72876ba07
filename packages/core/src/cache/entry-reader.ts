import type { Codec } from '../codec/codec.ts'
import { ageOf, type Entry, freshForOf } from '../entry.ts'
import type { LoadCoordinator } from '../flight/coordinator.ts'
import { emitAway } from '../flight/emit-away.ts'
import { takeValue } from '../flight/take-value.ts'
import type { Lookups } from '../lookup/lookup.ts'
import type { Settings } from '../options/settings.ts'
import type { ReadResult } from './cache.ts'
import type { Inspected } from './inspected.ts'

/** Reads entries without loading. Its keys are stored keys. */
export class EntryReader {
  readonly #coordinator: LoadCoordinator
  readonly #lookups: Lookups
  readonly #settings: Settings

  constructor(coordinator: LoadCoordinator, lookups: Lookups, settings: Settings) {
    this.#coordinator = coordinator
    this.#lookups = lookups
    this.#settings = settings
  }

  /** A fresh or stale entry; undefined while the store is away and this process has no copy. */
  async read(key: string, codec: Codec): Promise<ReadResult<unknown> | undefined> {
    const { runtime, freshness } = this.#coordinator.services
    const entry =
      this.#lookups.peekIgnoringEarlyRefresh(key, this.#settings, codec) ?? (await this.#readStore(key, codec))
    if (entry === undefined) return undefined
    const now = runtime.now()
    const verdict = freshness.judge(entry, now, this.#settings)
    if (verdict === 'gone') return undefined
    const value = takeValue(entry, { codec, freeze: this.#settings.freeze })
    return readResultOf(entry, value, verdict === 'fresh' ? 'fresh' : 'stale', now)
  }

  /** Joins a running read. Undefined also while the cache is paused. */
  async #readStore(key: string, codec: Codec): Promise<Entry | undefined> {
    const { paused, reads, services } = this.#coordinator
    if (paused) return undefined
    return await reads.read(key, codec, (read) => {
      // A call that may load reports this with its load.
      if (read.kind === 'away') emitAway(services.events, key, 'read', read)
      return read.kind === 'found' && !services.pause.on ? read.entry : undefined
    })
  }

  /** The value of a fresh entry, with `stale` also of a stale one. */
  async value(key: string, codec: Codec, stale: boolean): Promise<unknown> {
    const found = await this.read(key, codec)
    return stale || found?.state === 'fresh' ? found?.value : undefined
  }

  /** As `value`, of many keys: `keys` pairs each requested key with its stored key. */
  async values(
    keys: readonly (readonly [string, string])[],
    codec: Codec,
    stale: boolean,
  ): Promise<Map<string, unknown>> {
    const reads = keys.map(async ([requested, stored]) => [requested, await this.read(stored, codec)] as const)
    const values = new Map<string, unknown>()
    for (const [key, found] of await Promise.all(reads))
      if (found !== undefined && (stale || found.state === 'fresh')) values.set(key, found.value)
    return values
  }

  async inspect(key: string): Promise<Inspected | undefined> {
    const { store, runtime, freshness } = this.#coordinator.services
    const answer = await store.inspect(key)
    if (answer.kind === 'away') return undefined
    const { entry, lease = null, cooldown = null, invalidatedTags } = answer
    const now = runtime.now()
    const verdict = entry === undefined ? 'gone' : freshness.judge(entry, now, this.#settings)
    return {
      state: verdict === 'if-error' ? 'stale' : verdict,
      age: entry === undefined ? undefined : ageOf(entry, now),
      freshFor: entry === undefined ? undefined : freshForOf(entry, verdict === 'fresh', now),
      lease,
      cooldown,
      tags: entry?.tags ?? invalidatedTags ?? [],
      invalidatedTags,
      waitersHere: this.#coordinator.waitingCalls(key),
    }
  }
}

/** An entry as callers see it; its times count from `now`. */
export function readResultOf(entry: Entry, value: unknown, state: 'fresh' | 'stale', now: number): ReadResult<unknown> {
  return { value, state, age: ageOf(entry, now), freshFor: freshForOf(entry, state === 'fresh', now) }
}
