import { BoundedMap } from '../bounded-map.ts'

/**
 * When each tag was last invalidated, as numbers of one sequence. A load that began at sequence `n` is good for a tag whose
 * number is at most `n`, so it does not matter when the load names its tags.
 */
export class TagNumbers {
  readonly #numbers: BoundedMap<string, number>
  #sequence = 0
  /** The number of every forgotten tag: the highest that was forgotten, so that none ever counts as still valid. */
  #floor = 0

  /** `capacity`: so many tags keep their own number. */
  constructor(capacity: number) {
    this.#numbers = new BoundedMap(capacity, (forgotten) => {
      for (const number of forgotten) this.#floor = Math.max(this.#floor, number)
    })
  }

  /** The highest number given so far. */
  get sequence(): number {
    return this.#sequence
  }

  /** Gives the tags a new number, and returns it: every load that began before is no longer good for them. */
  invalidate(tags: readonly string[]): number {
    this.#sequence += 1
    for (const tag of tags) this.#numbers.set(tag, this.#sequence)
    return this.#sequence
  }

  /** The number of a tag. */
  of(tag: string): number {
    return this.#numbers.get(tag) ?? this.#floor
  }

  /** True when one of the tags was invalidated after the sequence was `tagSeq`. */
  invalidatedSince(tags: readonly string[], tagSeq: number): boolean {
    return tags.some((tag) => this.of(tag) > tagSeq)
  }
}
