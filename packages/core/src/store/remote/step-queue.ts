import type { Runtime } from '../../runtime.ts'
import type { Away } from '../store.ts'

/**
 * So many steps are in flight at once. More would not be answered sooner, and the last of a burst would look like a step that a silent store does
 * not answer.
 */
const MOST_IN_FLIGHT = 512

/** The order in which waiting steps are sent: what ends a lease before what begins one, and that before a read, from which more steps follow. */
export type Lane = 'ending' | 'step' | 'read'

interface WaitingStep {
  readonly since: number
  readonly send: () => void
  readonly refuse: (away: Away) => void
}

/** Limits the steps in flight to a store. The others wait for their turn, for at most `patience` ms. */
export class StepQueue {
  readonly #runtime: Runtime
  readonly #patience: number
  readonly #lanes: Readonly<Record<Lane, Fifo<WaitingStep>>> = {
    ending: new Fifo(),
    step: new Fifo(),
    read: new Fifo(),
  }
  /** Made once: an error with its stack costs more than the answer. */
  readonly #tooLate: Away
  #inFlight = 0
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

  /** Counts a step that is sent at once; false when it must `wait`. Each step that was sent ends with one `leave`. */
  tryEnter(): boolean {
    if (this.#inFlight >= MOST_IN_FLIGHT) return false
    this.#inFlight += 1
    return true
  }

  /** Calls `send` when it is the step's turn, or `refuse` when that does not come in time. */
  wait(lane: Lane, send: () => void, refuse: (away: Away) => void): void {
    const since = this.#runtime.now()
    this.#waitedAt = since
    this.#lanes[lane].push({ since, send, refuse })
  }

  /** A step has ended: the next one takes its place. */
  leave(): void {
    this.#inFlight -= 1
    const next = this.#nextInTime()
    if (next === undefined) return
    this.#inFlight += 1
    next.send()
  }

  /** Refuses every step that waits. */
  refuseAll(away: Away): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) next.refuse(away)
  }

  #nextInTime(): WaitingStep | undefined {
    let next = this.#next()
    if (next === undefined) return undefined
    const now = this.#runtime.now()
    this.#waitedAt = now
    for (; next !== undefined && now - next.since > this.#patience; next = this.#next()) next.refuse(this.#tooLate)
    return next
  }

  #next(): WaitingStep | undefined {
    const { ending, step, read } = this.#lanes
    return ending.shift() ?? step.shift() ?? read.shift()
  }
}

/** First in, first out. */
class Fifo<T> {
  #items: (T | undefined)[] = []
  #head = 0

  push(item: T): void {
    this.#items.push(item)
  }

  shift(): T | undefined {
    const item = this.#items[this.#head]
    if (item === undefined) return undefined
    this.#items[this.#head] = undefined
    this.#head += 1
    if (this.#head === this.#items.length) {
      this.#items = []
      this.#head = 0
    }
    return item
  }
}
