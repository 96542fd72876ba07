const AT_ONCE = 5
/** Of a load without a queue: 50 loads a second. */
const LOAD_MS = 100
/** The queue up to which a load takes no longer, and how many times as long it takes at most. */
const HEALTHY_QUEUE = 5
const MOST_SLOWDOWN = 10

/**
 * A source that breaks, as a database does: it works on five loads at once, in the order of their arrival, and the longer its queue, the longer
 * each takes. It works on a load, too, whose callers have gone.
 */
export class FragileSource {
  #running = 0
  readonly #queue: (() => void)[] = []

  /** The loads that it works on, and those that wait. */
  get loads(): number {
    return this.#running + this.#queue.length
  }

  load(answer: () => void): void {
    this.#queue.push(answer)
    this.#begin()
  }

  /** No load begins from now on. */
  close(): void {
    this.#queue.length = 0
  }

  #begin(): void {
    while (this.#running < AT_ONCE) {
      const answer = this.#queue.shift()
      if (answer === undefined) return
      this.#running += 1
      const slowdown = Math.min(MOST_SLOWDOWN, Math.max(1, this.#queue.length / HEALTHY_QUEUE))
      setTimeout(() => {
        this.#running -= 1
        answer()
        this.#begin()
      }, LOAD_MS * slowdown)
    }
  }
}
