import type { Cache } from '@cattlegrid/core'
import { LRUCache } from 'lru-cache'

/** Keys remembered for one cache. */
const MAX_KEYS = 1000

/**
 * The keys whose leader in this process released its followers without a response for them. A request that was waiting then, and runs its
 * own handler now, knows that it waited in vain: `collapsed=?0` (RFC 9211 section 2.6).
 */
export class ReleasedKeys {
  /** The number of each key's latest release. */
  readonly #releases = new LRUCache<string, number>({ max: MAX_KEYS })
  #latest = 0

  /** The number of the latest release; later releases have greater numbers. */
  get latest(): number {
    return this.#latest
  }

  /** The followers at the key are released. */
  note(key: string): void {
    this.#latest += 1
    this.#releases.set(key, this.#latest)
  }

  /** Whether the key was released after the release of that number. */
  releasedAfter(key: string, release: number): boolean {
    return (this.#releases.get(key) ?? 0) > release
  }
}

const releasedKeys = new WeakMap<Cache, ReleasedKeys>()

export function releasedKeysOf(cache: Cache): ReleasedKeys {
  const known = releasedKeys.get(cache) ?? new ReleasedKeys()
  releasedKeys.set(cache, known)
  return known
}
