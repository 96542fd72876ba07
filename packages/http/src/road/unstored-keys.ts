import type { Cache } from '@cattlegrid/core'
import { BoundedMap } from '@cattlegrid/core/extend'
import { perCache } from '../route/per-cache.ts'

/** Keys remembered for one cache, at least. */
const KEYS_KEPT = 10_000
/** How long a key is remembered, ms. */
const KEPT_FOR = 600_000

/** What a response says of its URL, and not of one request. */
const OF_URL = new Set(['no-freshness', 'no-store', 'private', 'no-cache'])

/**
 * The keys of URLs whose responses forbid storing, or declare no freshness. Requests with conditions or a
 * range get from the handler what they get without a cache.
 */
export class UnstoredKeys {
  readonly #until = new BoundedMap<string, number>(KEYS_KEPT)

  /** `why`: why the response of the key's latest leader is not stored; undefined: it is. */
  note(key: string, why: string | undefined, now: number): void {
    if (why !== undefined && OF_URL.has(why)) this.#until.set(key, now + KEPT_FOR)
    else this.#until.delete(key)
  }

  has(key: string, now: number): boolean {
    return (this.#until.get(key) ?? 0) > now
  }
}

export const unstoredKeysOf: (cache: Cache) => UnstoredKeys = perCache('unstored-keys/1', () => new UnstoredKeys())
