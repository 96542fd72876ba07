import { BoundedMap } from '../maps/bounded-map.ts'
import { InvalidationLog } from '../maps/invalidation-log.ts'
import type { Entry, Version } from '../entry.ts'

interface SuppressedRefresh {
  readonly version: Version
  readonly tags: readonly string[]
  /** The sequence of the log of tags when it was suppressed. */
  readonly tagSeq: number
  readonly until: number
}

/** At least this many keys, and tags, are remembered; a forgotten one costs one more acquire. */
const CAPACITY = 5_000

/**
 * Remembers for which stale entries another process refreshes or a load has failed, so that not every stale hit acquires. It remembers the
 * version too: by key alone, it would also delay the refresh of the next version.
 */
export class RefreshSuppression {
  readonly #suppressed = new BoundedMap<string, SuppressedRefresh>(CAPACITY)
  /** A log: an invalidation of tags visits no key. */
  readonly #tags = new InvalidationLog(CAPACITY)

  add(key: string, { version, tags }: Entry, until: number): void {
    this.#suppressed.set(key, { version, tags, tagSeq: this.#tags.sequence, until })
  }

  holds(key: string, version: Version, now: number): boolean {
    const suppressed = this.#suppressed.get(key)
    if (suppressed === undefined || suppressed.version !== version || now >= suppressed.until) return false
    return !this.#tags.anyNotedSince(suppressed.tags, suppressed.tagSeq)
  }

  clear(key: string): void {
    this.#suppressed.delete(key)
  }

  /** Forgets the entries that carry one of the tags. */
  clearTags(tags: readonly string[]): void {
    this.#tags.note(tags)
  }

  clearAll(): void {
    this.#suppressed.clear()
  }
}
