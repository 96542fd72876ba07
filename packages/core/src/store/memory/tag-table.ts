import { BoundedMap } from '../../maps/bounded-map.ts'
import type { Entry } from '../../entry.ts'
import type { TagNumber } from '../answers.ts'
import { tagExpiry, type TagExpiry } from '../tag-expiry.ts'

/** A tag that entries carry. */
interface CarriedTag {
  entries: number
  number: TagNumber
}

/** The number of a tag that was invalidated last at `sequence`, and not expired since; 0: never. */
function invalidatedAt(sequence: number): TagNumber {
  return { invalidated: sequence, expired: 0, expiredAt: 0, goneAt: Infinity }
}

/** The end of an earlier expiry stays, or has come: a later one prolongs nothing. */
function expiredAgain(before: TagNumber, next: Omit<TagNumber, 'invalidated'>): TagNumber {
  if (before.goneAt <= next.expiredAt) return { ...next, invalidated: before.expired }
  return { ...next, invalidated: before.invalidated, goneAt: Math.min(before.goneAt, next.goneAt) }
}

/**
 * The numbers of tags in a memory store. A tag that an entry carries keeps its number. The numbers of the
 * others are bounded, because any client can invalidate tags that nothing carries, such as those of URLs that
 * nobody cached; a load that began before a forgotten one is refused.
 */
export class TagTable {
  readonly #carried = new Map<string, CarriedTag>()
  readonly #others: BoundedMap<string, TagNumber>
  #sequence = 0
  /**
   * The number of every forgotten tag: the highest that was forgotten, so that none ever counts as
   * still valid.
   */
  #forgotten = invalidatedAt(0)

  /** `capacity`: the number of tags that no entry carries and that keep their number. */
  constructor(capacity: number) {
    this.#others = new BoundedMap(capacity, (forgotten) => {
      let highest = this.#forgotten.invalidated
      for (const { invalidated, expired } of forgotten) highest = Math.max(highest, invalidated, expired)
      this.#forgotten = invalidatedAt(highest)
    })
  }

  /** The highest number given so far. */
  get sequence(): number {
    return this.#sequence
  }

  /**
   * Gives the tags a new number, and returns it. `delete`: every load that began before is no longer good for
   * them; `expire`: its entry is stale since `now`, and unusable from `now + deleteAfter` on.
   */
  invalidate(tags: readonly string[], how: 'delete' | 'expire', now: number, deleteAfter: number = Infinity): number {
    this.#sequence += 1
    for (const tag of tags) {
      const number =
        how === 'delete'
          ? invalidatedAt(this.#sequence)
          : expiredAgain(this.of(tag), { expired: this.#sequence, expiredAt: now, goneAt: now + deleteAfter })
      const carried = this.#carried.get(tag)
      if (carried !== undefined) carried.number = number
      this.#others.set(tag, number)
    }
    return this.#sequence
  }

  /** The number of a tag. */
  of(tag: string): TagNumber {
    return this.#carried.get(tag)?.number ?? this.#others.get(tag) ?? this.#forgotten
  }

  /** True when one of the tags was invalidated after the sequence was `tagSeq`. */
  invalidatedSince(tags: readonly string[], tagSeq: number): boolean {
    return tags.some((tag) => this.of(tag).invalidated > tagSeq)
  }

  /** As `tagExpiry`, by these numbers. */
  expiryOf(entry: Entry): TagExpiry | undefined {
    return tagExpiry(entry, (tag) => this.of(tag))
  }

  /** Notes that one more entry carries the tags. */
  add(tags: readonly string[]): void {
    for (const tag of tags) {
      const carried = this.#carried.get(tag)
      if (carried === undefined) this.#carried.set(tag, { entries: 1, number: this.of(tag) })
      else carried.entries += 1
    }
  }

  /** Notes that an entry with the tags is gone. */
  remove(tags: readonly string[]): void {
    for (const tag of tags) {
      const carried = this.#carried.get(tag)
      if (carried === undefined) continue
      carried.entries -= 1
      if (carried.entries === 0) this.#carried.delete(tag)
    }
  }
}
