import { Queue } from '../../maps/queue.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { Away } from '../answers.ts'

/** The largest window: more steps in flight would not be answered sooner. */
const MOST_IN_FLIGHT = 512
/** The window at the beginning of a burst, whose answers may be large. */
const FIRST_IN_FLIGHT = 32
/** The smallest window, however slow the answers are. */
const LEAST_IN_FLIGHT = 8
/** The largest window at the beginning of a burst that follows another one at once. */
const CARRIED_IN_FLIGHT = 128
/** A burst follows another one at once when nothing was in flight for less than this, ms. */
const PAUSE = 1
/** The window comes down to the most steps in flight during such a period, ms. */
const PERIOD = 100
/**
 * An answer is prompt if it took at most this much longer than the fastest of the burst, as a part of
 * the time-out.
 */
const PROMPT = 0.3
/** An answer is late if it took this much longer: the next ones might come after the time-out. */
const LATE = 0.5

/**
 * The order in which waiting steps are sent: what keeps a lease, what ends one, what begins one, and a read,
 * from which more steps follow.
 */
export type Lane = 'renewal' | 'ending' | 'step' | 'read'

interface WaitingStep {
  /** Refused when its turn comes later. */
  readonly until: number
  readonly send: () => void
  readonly refuse: (away: Away) => void
}

/**
 * Limits the steps in flight to a part of a store. The others wait for their turn; one whose turn comes after
 * more than `patience` ms is refused, except a step that keeps or ends a lease: its load has been made.
 *
 * The limit is a window that adapts to the answers (docs/decisions/0017-window-of-the-bulkhead.md). A burst
 * begins when a step must wait, with a small window: the last of 512 values of 100 kB comes after the
 * time-out, as if the store were silent. The window grows with each prompt answer to a step that was sent
 * while it was full, and shrinks with each late one. Where every answer takes long, because the store is far
 * away, none is late.
 */
export class Bulkhead {
  readonly #runtime: Runtime
  readonly #patience: number
  readonly #lanes: Readonly<Record<Lane, Queue<WaitingStep>>> = {
    renewal: new Queue(),
    ending: new Queue(),
    step: new Queue(),
    read: new Queue(),
  }
  /** Made once: an error with its stack costs more than the answer. */
  readonly #tooLate: Away
  #inFlight = 0
  #limit = FIRST_IN_FLIGHT
  #waiting = 0
  /** Steps in flight that were sent before the burst began, when the window was not full. */
  #ahead = 0
  /** Steps in flight that have waited for their turn. Their answers come behind those. */
  #behind = 0
  /** The time that the fastest answer of the burst took, as a part of the time-out. */
  #fastest = Infinity
  /** The moment at which a step ended last while none waited. */
  #calmAt = -Infinity
  #periodBegan = -Infinity
  /** The most steps that were in flight in this period. */
  #peak = 0
  #waitedAt = -Infinity

  constructor(runtime: Runtime, patience: number) {
    this.#runtime = runtime
    this.#patience = patience
    const cause = new Error(`The step waited for its turn for more than ${patience} ms`)
    this.#tooLate = { kind: 'away', why: 'busy', cause }
  }

  /** True when some step has waited for its turn since that moment. */
  waitedSince(moment: number): boolean {
    return this.#waitedAt >= moment
  }

  /**
   * Counts a step that is sent at once; false when it must `wait`. Each step that was sent ends with
   * one `leave`.
   */
  tryEnter(): boolean {
    // The answers of another burst may be larger.
    if (this.#inFlight === 0 && this.#runtime.elapsed() - this.#calmAt > PAUSE) this.#limit = FIRST_IN_FLIGHT
    if (this.#inFlight >= this.#limit) return false
    this.#enter()
    return true
  }

  /** Calls `send` when it is the step's turn, or `refuse` when that does not come in time. */
  wait(lane: Lane, send: () => void, refuse: (away: Away) => void): void {
    const now = this.#runtime.elapsed()
    this.#waitedAt = now
    if (this.#waiting === 0) {
      this.#ahead = this.#inFlight
      this.#fastest = Infinity
    }
    this.#waiting += 1
    const until = lane === 'renewal' || lane === 'ending' ? Infinity : now + this.#patience
    this.#lanes[lane].push({ until, send, refuse })
  }

  /** A step has ended: the next one takes its place. `took`: its time, as a part of the time-out. */
  leave(took: number): void {
    this.#inFlight -= 1
    if (this.#ahead + this.#behind > 0) this.#adapt(took)
    if (this.#waiting === 0) return this.#calmDown()
    while (this.#inFlight < this.#limit) {
      const next = this.#nextInTime()
      if (next === undefined) return
      this.#enter()
      this.#behind += 1
      next.send()
    }
  }

  /** Refuses every step that waits. */
  refuseAll(away: Away): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) next.refuse(away)
  }

  #enter(): void {
    this.#inFlight += 1
    if (this.#inFlight > this.#peak) this.#peak = this.#inFlight
  }

  /**
   * No step waits. Callers that ask in step, each when it has its answer, make one burst after another: their
   * window stays open.
   */
  #calmDown(): void {
    this.#limit = Math.min(this.#limit, CARRIED_IN_FLIGHT)
    this.#calmAt = this.#runtime.elapsed()
    if (this.#calmAt - this.#periodBegan < PERIOD) return
    this.#limit = Math.max(FIRST_IN_FLIGHT, Math.min(this.#limit, this.#peak))
    this.#periodBegan = this.#calmAt
    this.#peak = this.#inFlight
  }

  #adapt(took: number): void {
    this.#fastest = Math.min(this.#fastest, took)
    const longer = took - this.#fastest
    const isAhead = this.#ahead > 0
    if (isAhead) this.#ahead -= 1
    else this.#behind -= 1
    if (longer > LATE) this.#limit = Math.max(LEAST_IN_FLIGHT, this.#limit - 1)
    else if (longer <= PROMPT && !isAhead) this.#limit = Math.min(MOST_IN_FLIGHT, this.#limit + 1)
  }

  #nextInTime(): WaitingStep | undefined {
    let next = this.#next()
    if (next === undefined) return undefined
    const now = this.#runtime.elapsed()
    this.#waitedAt = now
    for (; next !== undefined && now > next.until; next = this.#next()) next.refuse(this.#tooLate)
    return next
  }

  #next(): WaitingStep | undefined {
    const { renewal, ending, step, read } = this.#lanes
    const next = renewal.shift() ?? ending.shift() ?? step.shift() ?? read.shift()
    if (next !== undefined) this.#waiting -= 1
    return next
  }
}
