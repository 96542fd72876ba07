/** Admits one line of each kind in a time, and counts those that it leaves out. */
export class RateLimit {
  readonly #every: number
  readonly #kinds = new Map<string, { readonly until: number; suppressed: number }>()

  /** `every` in ms. */
  constructor(every: number) {
    this.#every = every
  }

  /**
   * How many lines of this kind were left out since the last one; undefined if this one is left out, too.
   * `now` in ms.
   */
  admit(kind: string, now: number): number | undefined {
    const last = this.#kinds.get(kind)
    if (last !== undefined && now < last.until) {
      last.suppressed += 1
      return undefined
    }
    this.#kinds.set(kind, { until: now + this.#every, suppressed: 0 })
    return last?.suppressed ?? 0
  }
}
