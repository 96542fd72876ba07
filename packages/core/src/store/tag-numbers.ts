import { LRUCache } from 'lru-cache'

/**
 * When each tag last fell, as numbers of one sequence. A load that began at sequence `n` is good for a tag whose number is at most `n`,
 * so it does not matter when the load names its tags.
 */
export class TagNumbers {
  readonly #maxTags: number
  /** Made for the first tag that falls: it takes its room at once, and most caches have no tags. */
  #numbers: LRUCache<string, number> | undefined
  #sequence = 0
  /** A tag that was forgotten counts as having fallen with the last forgotten one: never as "has not fallen". */
  #floor = 0

  constructor(maxTags: number) {
    this.#maxTags = maxTags
  }

  /** The highest number given so far. */
  get sequence(): number {
    return this.#sequence
  }

  /** Every load that began before this call is no longer good for the tags. */
  fall(tags: readonly string[]): number {
    this.#numbers ??= this.#room()
    this.#sequence += 1
    for (const tag of tags) this.#numbers.set(tag, this.#sequence)
    return this.#sequence
  }

  /** The number of a tag. */
  of(tag: string): number {
    return this.#numbers?.get(tag) ?? this.#floor
  }

  /** Whether one of the tags fell after the sequence stood at `tagSeq`. */
  invalidatedSince(tags: readonly string[], tagSeq: number): boolean {
    return tags.some((tag) => this.of(tag) > tagSeq)
  }

  #room(): LRUCache<string, number> {
    return new LRUCache({
      max: this.#maxTags,
      dispose: (fell, _tag, reason) => {
        if (reason === 'evict') this.#floor = Math.max(this.#floor, fell)
      },
    })
  }
}
