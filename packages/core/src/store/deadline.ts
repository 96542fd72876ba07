import type { Runtime } from '../runtime.ts'
import type { Away } from './store.ts'

/** In how many ticks of one shared timer a deadline passes: a timer for every step would cost more than the step. */
const TICKS = 5

interface Waiting {
  left: number
  readonly expire: () => void
}

/**
 * Ends the wait for steps that do not answer; the steps themselves go on. Time is counted in ticks: while this process is too busy to read
 * an answer that has come, no tick passes, so its own slowness is not taken for the store's.
 */
export class Deadline {
  readonly #runtime: Runtime
  readonly #timeout: number
  readonly #waiting = new Set<Waiting>()
  #ticking = false

  constructor(runtime: Runtime, timeout: number) {
    this.#runtime = runtime
    this.#timeout = timeout
  }

  /** The answer, or `away` when none came within `times` × the time-out. Never rejects. */
  async within<T>(step: Promise<T>, times: number): Promise<T | Away> {
    let waiting: Waiting | undefined
    const expired = new Promise<Away>((resolve) => {
      const cause = new Error(`The store did not answer within ${this.#timeout * times} ms`)
      waiting = { left: TICKS * times + 1, expire: () => resolve({ kind: 'away', why: 'deadline', cause }) }
      this.#add(waiting)
    })
    try {
      return await Promise.race([step, expired])
    } catch (cause) {
      return { kind: 'away', why: 'error', cause }
    } finally {
      if (waiting !== undefined) this.#waiting.delete(waiting)
    }
  }

  #add(waiting: Waiting): void {
    this.#waiting.add(waiting)
    if (!this.#ticking) this.#schedule()
  }

  #schedule(): void {
    this.#ticking = true
    this.#runtime.schedule(() => this.#tick(), this.#timeout / TICKS)
  }

  #tick(): void {
    for (const waiting of this.#waiting) {
      waiting.left -= 1
      if (waiting.left > 0) continue
      this.#waiting.delete(waiting)
      waiting.expire()
    }
    if (this.#waiting.size > 0) this.#schedule()
    else this.#ticking = false
  }
}
