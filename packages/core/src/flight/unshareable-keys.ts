import { BoundedMap } from '../maps/bounded-map.ts'

/** At least this many keys are remembered; a forgotten one costs one more acquire. */
const CAPACITY = 5_000
/** The store is asked again after this time, ms: a process that misses notices learns by then that the mark has ended. */
const MAX_AGE = 1000

/** Keys that the store has lately called unshareable: their callers load alone without asking the store first. */
export class UnshareableKeys {
  /** By key, the `elapsed()` until which it is unshareable. */
  readonly #knownUntil = new BoundedMap<string, number>(CAPACITY)

  /** `remaining`: what is left of the mark, ms, counted from `askedAt`, since the answer may have taken long. */
  add(key: string, remaining: number, askedAt: number): void {
    this.#knownUntil.set(key, askedAt + Math.min(remaining, MAX_AGE))
  }

  holds(key: string, now: number): boolean {
    const until = this.#knownUntil.get(key)
    if (until === undefined) return false
    if (now >= until) this.#knownUntil.delete(key)
    return now < until
  }

  clear(key: string): void {
    this.#knownUntil.delete(key)
  }

  clearAll(): void {
    this.#knownUntil.clear()
  }
}
