import { LRUCache } from 'lru-cache'
import type { Version } from '../entry.ts'

interface SuppressedRefresh {
  readonly version: Version
  readonly until: number
}

/** A key beyond this many costs one more acquire. */
const MAX_KEYS = 10_000

/**
 * Remembers for which stale entries another process refreshes or a load has failed, so that not every stale hit acquires. It remembers the
 * version too: by key alone, it would also delay the refresh of the next version.
 */
export class RefreshSuppression {
  readonly #suppressed = new LRUCache<string, SuppressedRefresh>({ max: MAX_KEYS })

  add(key: string, version: Version, until: number): void {
    this.#suppressed.set(key, { version, until })
  }

  holds(key: string, version: Version, now: number): boolean {
    const suppressed = this.#suppressed.get(key)
    return suppressed !== undefined && suppressed.version === version && now < suppressed.until
  }

  clear(key: string): void {
    this.#suppressed.delete(key)
  }

  clearAll(): void {
    this.#suppressed.clear()
  }
}
