import { BoundedMap } from '../bounded-map.ts'
import type { Version } from '../entry.ts'

interface SuppressedRefresh {
  readonly version: Version
  readonly until: number
}

/** At least this many keys are remembered; every other key costs one more acquire. */
const CAPACITY = 5_000

/**
 * Remembers for which stale entries another process refreshes or a load has failed, so that not every stale hit acquires. It remembers the
 * version too: by key alone, it would also delay the refresh of the next version.
 */
export class RefreshSuppression {
  readonly #suppressed = new BoundedMap<string, SuppressedRefresh>(CAPACITY)

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
