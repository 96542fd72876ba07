/** Limits the handlers of a route that run at once, over all its keys. */
export class HandlerLimit {
  readonly #max: number
  readonly #waiting = new Set<() => void>()
  #running = 0

  constructor(max: number) {
    this.#max = max
  }

  /** True if the next handler has to wait. */
  get full(): boolean {
    return this.#running >= this.#max
  }

  /** Resolves to the function that releases the permit; rejects with the signal's reason. First come, first served. */
  async acquire(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    // A permit passes directly to the next waiter: no later caller can take it in between.
    if (this.full) await this.#wait(signal)
    else this.#running += 1
    let released = false
    return () => {
      if (released) return
      released = true
      this.#release()
    }
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = (): void => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      }
      const onAbort = (): void => {
        this.#waiting.delete(start)
        reject(signal.reason as Error)
      }
      signal.addEventListener('abort', onAbort, { once: true })
      this.#waiting.add(start)
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
