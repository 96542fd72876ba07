import { TagNumbers } from '../tag-numbers.ts'

/** A tag that entries carry. */
interface StandingTag {
  entries: number
  number: number
}

/**
 * The numbers of tags in a memory store. A tag that an entry carries keeps its own number, whatever happens to others: any client can invalidate
 * tags that nothing carries, such as those of URLs that nobody cached. The numbers of the others are bounded; a load that began before a forgotten
 * one is refused.
 */
export class StandingTags {
  readonly #standing = new Map<string, StandingTag>()
  readonly #others: TagNumbers

  /** `capacity`: so many tags that no entry carries keep their own number. */
  constructor(capacity: number) {
    this.#others = new TagNumbers(capacity)
  }

  /** The highest number given so far. */
  get sequence(): number {
    return this.#others.sequence
  }

  /** Gives the tags a new number, and returns it: every load that began before is no longer good for them. */
  invalidate(tags: readonly string[]): number {
    const number = this.#others.invalidate(tags)
    for (const tag of tags) {
      const standing = this.#standing.get(tag)
      if (standing !== undefined) standing.number = number
    }
    return number
  }

  /** The number of a tag. */
  of(tag: string): number {
    return this.#standing.get(tag)?.number ?? this.#others.of(tag)
  }

  /** True when one of the tags was invalidated after the sequence was `tagSeq`. */
  invalidatedSince(tags: readonly string[], tagSeq: number): boolean {
    return tags.some((tag) => this.of(tag) > tagSeq)
  }

  /** Notes that one more entry carries the tags. */
  add(tags: readonly string[]): void {
    for (const tag of tags) {
      const standing = this.#standing.get(tag)
      if (standing === undefined) this.#standing.set(tag, { entries: 1, number: this.#others.of(tag) })
      else standing.entries += 1
    }
  }

  /** Notes that an entry with the tags is gone. */
  remove(tags: readonly string[]): void {
    for (const tag of tags) {
      const standing = this.#standing.get(tag)
      if (standing === undefined) continue
      standing.entries -= 1
      if (standing.entries === 0) this.#standing.delete(tag)
    }
  }
}
