import type { Runtime } from '../../runtime.ts'
import { runDetached } from '../../runtime.ts'
import { type Away, awayBecause } from '../store.ts'

/** In how many ticks of one shared timer a deadline passes: a timer for every step would cost more than the step. */
const TICKS = 10

/** Told how each step ended. */
export interface Hearing {
  answered(): void
  silent(): void
}

interface Waiting {
  /** Where it stands among those that wait; -1: it waits no more. */
  place: number
  left: number
  readonly times: number
  readonly tell: (silence: Away) => void
}

/**
 * Ends the wait for steps that do not answer; the steps themselves go on. Time is counted in ticks: while this process is too busy to read
 * an answer that has come, no tick passes, so its own slowness is not taken for the store's.
 */
export class Deadline {
  readonly #runtime: Runtime
  readonly #timeout: number
  readonly #hearing: Hearing | undefined
  /** In no order: the last one takes the place of one that goes. A Set would be built anew again and again. */
  readonly #waiting: Waiting[] = []
  #ticking = false

  constructor(runtime: Runtime, timeout: number, hearing?: Hearing) {
    this.#runtime = runtime
    this.#timeout = timeout
    this.#hearing = hearing
  }

  /** The answer, or `away` when none came within `times` × the time-out, of which `spent` ms are over already. Never rejects. */
  within<T extends { readonly kind: string }>(
    step: () => Promise<T>,
    times: number = 1,
    spent: number = 0,
  ): Promise<T | Away> {
    return new Promise((resolve) => {
      const answered = this.limited<T>(resolve, times, spent)
      const failed = (cause: unknown): void => answered(awayBecause(cause))
      try {
        step().then(answered, failed)
      } catch (cause) {
        failed(cause)
      }
    })
  }

  /** The same for one who is told the answer by a function: what is returned is to be called with it, and does nothing when it is too late. */
  limited<T extends { readonly kind: string }>(
    hear: (answer: T | Away) => void,
    times: number = 1,
    spent: number = 0,
  ): (answer: T | Away) => void {
    const ticks = Math.max(0, Math.ceil(TICKS * (times - spent / this.#timeout)))
    // The tick that comes next is under way already.
    const waiting: Waiting = { place: -1, left: ticks + 1, times, tell: hear }
    this.#add(waiting)
    return (answer) => {
      // It came too late: the wait is over, and what it said was heard as silence.
      if (waiting.place < 0) return
      this.#remove(waiting)
      this.#hear(answer)
      hear(answer)
    }
  }

  #hear(answer: { readonly kind: string } | Away): void {
    if (answer.kind === 'away' && 'why' in answer && answer.why === 'deadline') this.#hearing?.silent()
    else this.#hearing?.answered()
  }

  #add(waiting: Waiting): void {
    waiting.place = this.#waiting.push(waiting) - 1
    if (!this.#ticking) this.#schedule()
  }

  #remove(waiting: Waiting): void {
    const last = this.#waiting.pop()
    if (last !== undefined && last !== waiting) {
      this.#waiting[waiting.place] = last
      last.place = waiting.place
    }
    waiting.place = -1
  }

  #schedule(): void {
    this.#ticking = true
    runDetached(() => this.#runtime.schedule(() => this.#tick(), this.#timeout / TICKS))
  }

  #tick(): void {
    for (const waiting of this.#waiting) waiting.left -= 1
    for (const waiting of this.#waiting.filter(({ left }) => left <= 0)) this.#expire(waiting)
    if (this.#waiting.length > 0) this.#schedule()
    else this.#ticking = false
  }

  #expire(waiting: Waiting): void {
    this.#remove(waiting)
    // Made when it is needed: an error with its stack costs more than the step.
    const cause = new Error(`The store did not answer within ${this.#timeout * waiting.times} ms`)
    this.#hearing?.silent()
    waiting.tell({ kind: 'away', why: 'deadline', cause })
  }
}
