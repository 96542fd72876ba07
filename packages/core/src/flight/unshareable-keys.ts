/** How many keys are remembered at most; then all are forgotten, and asked for once more. */
const MOST_KEYS = 10_000
/** For how long the store is not asked again, ms: a process that does not hear its notices finds out by then that somebody ended the mark. */
const LONGEST_BELIEF = 1000

/** The keys that the store has called unshareable of late: whoever asks for one loads alone, and need not hear it from the store again. */
export class UnshareableKeys {
  /** Until when, by `now()`. */
  readonly #knownUntil = new Map<string, number>()

  /** `remaining`, ms: of the mark, when the store was asked at `asked`. Its answer may have been on its way for long. */
  add(key: string, remaining: number, asked: number): void {
    if (this.#knownUntil.size >= MOST_KEYS) this.#knownUntil.clear()
    this.#knownUntil.set(key, asked + Math.min(remaining, LONGEST_BELIEF))
  }

  holds(key: string, now: number): boolean {
    const until = this.#knownUntil.get(key)
    if (until === undefined) return false
    if (now >= until) this.#knownUntil.delete(key)
    return now < until
  }

  clear(key: string): void {
    this.#knownUntil.delete(key)
  }

  clearAll(): void {
    this.#knownUntil.clear()
  }
}
