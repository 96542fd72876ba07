import type { Cache } from '@cattlegrid/core'
import { BoundedMap } from '@cattlegrid/core/extend'
import { perCache } from '../route/per-cache.ts'

/** Keys remembered for one cache, at least. */
const KEYS_KEPT = 1000

/**
 * The keys whose leader in this process released its followers without a response for them. A request that
 * waited then and runs its own handler now reports `collapsed=?0` (RFC 9211 section 2.6).
 */
export class ReleasedKeys {
  /** The number of each key's latest release. */
  readonly #releases = new BoundedMap<string, number>(KEYS_KEPT)
  #latest = 0

  /** The number of the latest release; later releases have greater numbers. */
  get latest(): number {
    return this.#latest
  }

  /** Call it before the followers at the key are released. */
  note(key: string): void {
    this.#latest += 1
    this.#releases.set(key, this.#latest)
  }

  /** True if the key was released after the release of that number. */
  releasedAfter(key: string, release: number): boolean {
    return (this.#releases.get(key) ?? 0) > release
  }
}

export const releasedKeysOf: (cache: Cache) => ReleasedKeys = perCache('released-keys/1', () => new ReleasedKeys())
