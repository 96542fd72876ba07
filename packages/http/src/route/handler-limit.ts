/** How many handlers of a route may run at once, over all its keys. */
export class HandlerLimit {
  readonly #max: number
  readonly #waiting = new Set<() => void>()
  #running = 0

  constructor(most: number) {
    this.#max = most
  }

  /** Whether somebody would have to wait. */
  get full(): boolean {
    return this.#running >= this.#max
  }

  /** Resolves to what ends the turn; rejects with the signal's reason. First come, first served. */
  async acquire(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    // Handed on without ever being free: nobody who comes later can take it in between.
    if (this.full) await this.#wait(signal)
    else this.#running += 1
    let over = false
    return () => {
      if (over) return
      over = true
      this.#release()
    }
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const go = (): void => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = (): void => {
        this.#waiting.delete(go)
        reject(signal.reason as Error)
      }
      signal.addEventListener('abort', leave, { once: true })
      this.#waiting.add(go)
    })
  }

  #release(): void {
    const [next] = this.#waiting
    if (next === undefined) this.#running -= 1
    else {
      this.#waiting.delete(next)
      next()
    }
  }
}
