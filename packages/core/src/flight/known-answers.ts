import type { Entry, Version } from '../entry.ts'
import { BoundedMap } from '../maps/bounded-map.ts'
import { InvalidationLog } from '../maps/invalidation-log.ts'

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
 * The store is asked again about an unshareable key after this time, ms: a process that misses notices learns
 * by then that the mark has ended.
 */
const MAX_AGE = 1000

/**
 * What the store has lately answered about keys, so that not every call acquires. Times are those of
 * `elapsed()`, ms.
 */
export class KnownAnswers {
  /** By key and version: by key alone, it would also delay the refresh of the next version. */
  readonly #suppressed = new BoundedMap<string, SuppressedRefresh>(CAPACITY)
  /** A log: an invalidation of tags visits no key. */
  readonly #tags = new InvalidationLog(CAPACITY)
  readonly #unshareableUntil = new BoundedMap<string, number>(CAPACITY)

  /**
   * Another process loads the key, or its load has failed: the stale entry is not refreshed before `until`.
   */
  suppress(key: string, { version, tags }: Entry, until: number): void {
    this.#suppressed.set(key, { version, tags, tagSeq: this.#tags.sequence, until })
  }

  isSuppressed(key: string, version: Version, now: number): boolean {
    const suppressed = this.#suppressed.get(key)
    if (suppressed === undefined || suppressed.version !== version || now >= suppressed.until) return false
    return !this.#tags.anyNotedSince(suppressed.tags, suppressed.tagSeq)
  }

  /**
   * The key is unshareable: its callers load alone without asking the store first. `remaining` counts from
   * `askedAt`, since the answer may have taken long.
   */
  markUnshareable(key: string, remaining: number, askedAt: number): void {
    this.#unshareableUntil.set(key, askedAt + Math.min(remaining, MAX_AGE))
  }

  isUnshareable(key: string, now: number): boolean {
    const until = this.#unshareableUntil.get(key)
    if (until === undefined) return false
    if (now >= until) this.#unshareableUntil.delete(key)
    return now < until
  }

  forget(key: string): void {
    this.#suppressed.delete(key)
    this.#unshareableUntil.delete(key)
  }

  /** Refreshes of the entries that carry one of the tags are no longer suppressed. */
  forgetTags(tags: readonly string[]): void {
    this.#tags.note(tags)
  }

  forgetAll(): void {
    this.#suppressed.clear()
    this.#unshareableUntil.clear()
  }
}
