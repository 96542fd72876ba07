import type { Cache } from '@cattlegrid/core'

/** As many keys as are remembered for one cache. */
const MOST_KEYS = 1000

/**
 * When a leader of this process had nothing for those who waited, by its key: so that who was on its way by then, and has to run its own
 * handler, is known to have waited in vain.
 */
export class ReleasedKeys {
  readonly #latest = new Map<string, number>()
  #count = 0

  /** A mark in the order of releases: what comes later comes after it. */
  get latest(): number {
    return this.#count
  }

  /** Everybody who waits at the key is let go. */
  note(key: string): void {
    this.#count += 1
    this.#latest.delete(key)
    this.#latest.set(key, this.#count)
    if (this.#latest.size > MOST_KEYS) this.#latest.delete(this.#latest.keys().next().value ?? '')
  }

  /** Whether those who waited at the key were let go after the mark. */
  releasedAfter(key: string, mark: number): boolean {
    return (this.#latest.get(key) ?? 0) > mark
  }
}

const releasedKeys = new WeakMap<Cache, ReleasedKeys>()

export function releasedKeysOf(cache: Cache): ReleasedKeys {
  const known = releasedKeys.get(cache) ?? new ReleasedKeys()
  releasedKeys.set(cache, known)
  return known
}
