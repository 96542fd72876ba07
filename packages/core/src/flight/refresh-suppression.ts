import { BoundedMap } from '../maps/bounded-map.ts'
import type { Entry, Version } from '../entry.ts'

interface SuppressedRefresh {
  readonly version: Version
  readonly tags: readonly string[]
  readonly until: number
}

/** At least this many keys are remembered; a forgotten one costs one more acquire. */
const CAPACITY = 5_000

/**
 * Remembers for which stale entries another process refreshes or a load has failed, so that not every stale hit acquires. It remembers the
 * version too: by key alone, it would also delay the refresh of the next version.
 */
export class RefreshSuppression {
  readonly #suppressed = new BoundedMap<string, SuppressedRefresh>(CAPACITY)

  add(key: string, { version, tags }: Entry, until: number): void {
    this.#suppressed.set(key, { version, tags, until })
  }

  holds(key: string, version: Version, now: number): boolean {
    const suppressed = this.#suppressed.get(key)
    return suppressed !== undefined && suppressed.version === version && now < suppressed.until
  }

  clear(key: string): void {
    this.#suppressed.delete(key)
  }

  /** Forgets the entries that carry one of the tags. */
  clearTags(tags: readonly string[]): void {
    this.#suppressed.deleteIf((suppressed) => suppressed.tags.some((tag) => tags.includes(tag)))
  }

  clearAll(): void {
    this.#suppressed.clear()
  }
}
