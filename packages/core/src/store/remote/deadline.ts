import { type Runtime, runDetached } from '../../runtime/runtime.ts'
import { answerIn, type Away, awayBecause } from '../answers.ts'

/**
 * A deadline passes in this number of ticks of one shared timer: a timer for every step would cost more than
 * the step.
 */
const TICKS = 10

/** A step of the store. `isOver` returns true once its answer does not count any more. */
export type TimedStep<T> = (isOver: () => boolean) => Promise<T>

/** Learns of each step whether it was answered. */
export interface StepObserver {
  /** `took`: its time, as a part of the time-out. */
  answered(took: number): void
  timedOut(): void
  /** It was not sent, because there is no connection. */
  disconnected(took: number, away: Away): void
}

class PendingStep {
  /** Its index among the pending steps; -1 once it is over. */
  index = -1
  ticksLeft: number
  /** Its time limit, in time-outs. */
  readonly limit: number
  readonly observer: StepObserver | undefined
  readonly onTimeout: (away: Away) => void

  constructor(ticksLeft: number, limit: number, observer: StepObserver | undefined, onTimeout: (away: Away) => void) {
    this.ticksLeft = ticksLeft
    this.limit = limit
    this.observer = observer
    this.onTimeout = onTimeout
  }
}

/** The terms of a step. */
export interface StepTerms {
  /** Its time limit, in time-outs. Default: 1. */
  readonly limit?: number | undefined
  /** The part of it that the call has already used, in ticks. Default: 0. */
  readonly spent?: number | undefined
  readonly observer?: StepObserver | undefined
}

/**
 * Ends the wait for steps that do not answer; the steps themselves go on. Time is counted in ticks: while
 * this process is too busy to read an answer that has arrived, no tick passes, so the process's own slowness
 * is not taken for the store's.
 */
export class Deadline {
  readonly #runtime: Runtime
  readonly #timeout: number
  /**
   * In no order: the last one takes the place of one that is removed. A Set would be rehashed again
   * and again.
   */
  readonly #pending: PendingStep[] = []
  #ticking = false
  /** When the last ticks passed, in a ring. */
  readonly #tickTimes: number[] = Array.from({ length: TICKS }, () => -Infinity)
  #tickCount = 0

  constructor(runtime: Runtime, timeout: number) {
    this.#runtime = runtime
    this.#timeout = timeout
  }

  /**
   * The number of ticks since that moment, at most those of one time-out. None passes while this process is
   * too busy, or no step is pending.
   */
  ticksSince(moment: number): number {
    return this.#tickTimes.filter((time) => time >= moment).length
  }

  /** The answer of the step, or `away` when none came within its time limit. Never rejects. */
  within<T extends { readonly kind: string }>(step: TimedStep<T>, terms?: StepTerms): Promise<T | Away> {
    return new Promise((resolve) => {
      let over = false
      const end = (answer: T | Away): void => {
        over = true
        resolve(answer)
      }
      const answered = this.withCallback<T>(end, terms)
      const failed = (cause: unknown): void => answered(awayBecause(cause))
      try {
        step(() => over).then((answer) => answered(answerIn(answer)), failed)
      } catch (cause) {
        failed(cause)
      }
    })
  }

  /**
   * The same for a step with a callback: returns the function to give to the step. It ignores an answer that
   * comes too late.
   */
  withCallback<T extends { readonly kind: string }>(
    onAnswer: (answer: T | Away) => void,
    { limit = 1, spent = 0, observer }: StepTerms = {},
  ): (answer: T | Away) => void {
    // One more, because the first tick comes early: it is under way already.
    const ticksLeft = Math.max(0, TICKS * limit - spent) + 1
    const pending = new PendingStep(ticksLeft, limit, observer, onAnswer)
    this.#add(pending)
    return (answer) => {
      if (pending.index < 0) return
      this.#remove(pending)
      if (observer !== undefined) observe(observer, answer, (ticksLeft - pending.ticksLeft) / TICKS)
      onAnswer(answer)
    }
  }

  #add(pending: PendingStep): void {
    pending.index = this.#pending.push(pending) - 1
    if (!this.#ticking) this.#schedule()
  }

  #remove(pending: PendingStep): void {
    const last = this.#pending.pop()
    if (last !== undefined && last !== pending) {
      this.#pending[pending.index] = last
      last.index = pending.index
    }
    pending.index = -1
  }

  #schedule(): void {
    this.#ticking = true
    runDetached(() => this.#runtime.schedule(() => this.#tick(), this.#timeout / TICKS))
  }

  #tick(): void {
    this.#tickTimes[this.#tickCount % TICKS] = this.#runtime.elapsed()
    this.#tickCount += 1
    for (const pending of this.#pending) pending.ticksLeft -= 1
    for (const pending of this.#pending.filter(({ ticksLeft }) => ticksLeft <= 0)) this.#expire(pending)
    if (this.#pending.length > 0) this.#schedule()
    else this.#ticking = false
  }

  #expire(pending: PendingStep): void {
    this.#remove(pending)
    // Made only here: an error with its stack costs more than the step.
    const cause = new Error(`The store did not answer within ${this.#timeout * pending.limit} ms`)
    pending.observer?.timedOut()
    pending.onTimeout({ kind: 'away', why: 'deadline', cause })
  }
}

function observe(observer: StepObserver, answer: { readonly kind: string } | Away, took: number): void {
  if (answer.kind !== 'away' || !('why' in answer)) observer.answered(took)
  else if (answer.why === 'deadline') observer.timedOut()
  else if (answer.why === 'disconnected') observer.disconnected(took, answer)
  else observer.answered(took)
}
