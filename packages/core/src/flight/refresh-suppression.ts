import { LRUCache } from 'lru-cache'
import type { Version } from '../entry.ts'

interface Suppressed {
  readonly version: Version
  readonly until: number
}

/** How many keys are remembered; the rest ask again, which costs one acquire. */
const MOST_KEYS = 10_000

/**
 * Remembers that somebody else refreshes an entry, so that a stale hit does not ask for its lease again. It holds for that version only:
 * remembered by key alone, it would also delay the refresh of the next version.
 */
export class Suppression {
  readonly #suppressed = new LRUCache<string, Suppressed>({ max: MOST_KEYS })

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
