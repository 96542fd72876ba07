import { BoundedMap } from './bounded-map.ts'

/**
 * When each name, a key or a tag, was invalidated last in this process, as numbers of one sequence: what
 * began at sequence `n` is good for a name whose number is at most `n`.
 */
export class InvalidationLog {
  readonly #numbers: BoundedMap<string, number>
  #sequence = 0
  /**
   * The number of every forgotten name: the highest that was forgotten, so that none ever counts as
   * still valid.
   */
  #floor = 0

  /** `capacity`: the number of names that keep their own number. */
  constructor(capacity: number) {
    this.#numbers = new BoundedMap(capacity, (forgotten) => {
      for (const number of forgotten) this.#floor = Math.max(this.#floor, number)
    })
  }

  /** The highest number given so far. */
  get sequence(): number {
    return this.#sequence
  }

  /** Gives the names a new number: what began before is no longer good for them. */
  note(names: readonly string[]): void {
    this.#sequence += 1
    for (const name of names) this.#numbers.set(name, this.#sequence)
  }

  /** True when the name was invalidated after the sequence was `sequence`. */
  notedSince(name: string, sequence: number): boolean {
    return sequence !== this.#sequence && (this.#numbers.get(name) ?? this.#floor) > sequence
  }

  /** As `notedSince`, of any of the names. */
  anyNotedSince(names: readonly string[], sequence: number): boolean {
    return names.some((name) => this.notedSince(name, sequence))
  }
}
