import type { Cache } from '@cattlegrid/core'
import { Counts, type Sample } from './counts.ts'

/**
 * Counts the calls that got a value without a load of their own, and the time that those loads would have
 * taken: each as long as the mean load of the cache so far.
 *
 * `entry`: hits, less the background loads, since each of these runs for a call that was served an entry.
 * `follower`: calls that got the value of another call's load.
 */
export class AvoidedLoads {
  readonly #cache: Cache
  readonly #avoided = { entry: 0, follower: 0 }
  readonly #seconds = new Counts()
  #backgroundLoads = 0
  #followers = 0
  #loads = 0
  #loadSeconds = 0
  /** The avoided loads whose time is counted. */
  readonly #timed = { entry: 0, follower: 0 }

  constructor(cache: Cache) {
    this.#cache = cache
  }

  noteBackgroundLoad(): void {
    this.#backgroundLoads += 1
  }

  noteFollower(): void {
    this.#followers += 1
  }

  noteLoad(seconds: number): void {
    this.#count()
    this.#loads += 1
    this.#loadSeconds += seconds
  }

  get loads(): readonly Sample[] {
    this.#count()
    return Object.entries(this.#avoided).map(([by, value]) => ({ labels: { by }, value }))
  }

  get seconds(): readonly Sample[] {
    this.#count()
    return this.#seconds.samples
  }

  #count(): void {
    const { fresh, stale } = this.#cache.stats().hits
    const hits = [fresh, stale].reduce((sum, { store, near, outage }) => sum + store + near + outage, 0)
    // A counter never falls: a background load may begin before the next hit.
    this.#avoided.entry = Math.max(this.#avoided.entry, hits - this.#backgroundLoads)
    this.#avoided.follower = this.#followers
    for (const by of ['entry', 'follower'] as const) this.#time(by)
  }

  /** Waits for the first load: before it, nobody knows how long one takes. */
  #time(by: 'entry' | 'follower'): void {
    if (this.#loads === 0) return this.#seconds.add({ by }, 0)
    this.#seconds.add({ by }, (this.#avoided[by] - this.#timed[by]) * (this.#loadSeconds / this.#loads))
    this.#timed[by] = this.#avoided[by]
  }
}
