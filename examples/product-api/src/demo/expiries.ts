/**
 * Counts the expiries of one contender, by one rule for all of them: a load begins an expiry if it begins one ttl or more after the
 * expiry before, or after the entry was ended. Every other load belongs to the expiry before it. An entry lives for one ttl from its
 * commit, which follows the beginning of its load, so the first load of an expiry is the only one that was needed.
 */
export class ExpiryCount {
  expiries = 0
  /** The loads of the last expiry. */
  loads = 0
  readonly #ttlMs: number
  #began = -Infinity

  constructor(ttlMs: number) {
    this.#ttlMs = ttlMs
  }

  /** A load began at this time, in ms. The times do not go back. */
  load(at: number): void {
    if (at - this.#began >= this.#ttlMs) {
      this.#began = at
      this.expiries += 1
      this.loads = 0
    }
    this.loads += 1
  }

  /** Somebody ended the entry before its time: the next load begins an expiry. */
  entryEnded(): void {
    this.#began = -Infinity
  }
}
