/** A key among the heaviest. */
export interface WeighedKey {
  readonly key: string
  /** The weight, or up to `error` more. */
  readonly weight: number
  readonly error: number
}

/**
 * The heaviest keys of a stream, in bounded memory: the space-saving sketch. With `size` counters, no weight
 * is too low, none is too high by more than its `error`, no error exceeds the total weight divided by `size`,
 * and every key with more than that share of the total is there.
 *
 * Source: Metwally, Agrawal, El Abbadi: "Efficient Computation of Frequent and Top-k Elements in Data
 * Streams", ICDT 2005.
 */
export class TopKeys {
  readonly #size: number
  readonly #counters = new Map<string, { weight: number; error: number }>()

  constructor(size: number) {
    this.#size = size
  }

  add(key: string, weight: number): void {
    const counter = this.#counters.get(key)
    if (counter !== undefined) counter.weight += weight
    else if (this.#counters.size < this.#size) this.#counters.set(key, { weight, error: 0 })
    else this.#replaceLightest(key, weight)
  }

  /** The heaviest first. */
  list(): readonly WeighedKey[] {
    const all = [...this.#counters].map(([key, { weight, error }]) => ({ key, weight, error }))
    return all.toSorted((one, other) => other.weight - one.weight)
  }

  /** The most that a key can weigh that is not in the list. */
  get unlisted(): number {
    return this.#counters.size < this.#size ? 0 : this.#lightest()[1]
  }

  #replaceLightest(key: string, weight: number): void {
    const [lightest, error] = this.#lightest()
    this.#counters.delete(lightest)
    this.#counters.set(key, { weight: error + weight, error })
  }

  #lightest(): readonly [string, number] {
    let found: readonly [string, number] = ['', Infinity]
    for (const [key, { weight }] of this.#counters) if (weight < found[1]) found = [key, weight]
    return found
  }
}
