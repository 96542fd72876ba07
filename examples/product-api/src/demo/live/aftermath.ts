import { setTimeout as sleep } from 'node:timers/promises'
import type { StrategyName } from '../../strategies/strategy.ts'
import type { ApiProcess } from './api-process.ts'
import type { Response } from './clients.ts'
import type { Side } from './side.ts'

/** What one side has counted since a press. */
export interface SideFigures {
  readonly strategy: StrategyName
  /** The process that the button stopped. */
  readonly pid?: number | undefined
  /** Loads begun, without those of the stopped process. */
  readonly loads: number
  /** The longest time that a client waited, ms. Requests at a stopped process are left out: no cache can answer them. */
  readonly longestWait: number
  readonly errors: number
  readonly outdated: number
}

const LOOK_MS = 50
/** A little more than the naive lock and its clients need. */
const SETTLES_WITHIN_MS = 20_000

/** Counts what happens to one side, where its clients are, from now until it has settled or is ended. */
export class SideAftermath {
  readonly #side: Side
  readonly #began = { sentAt: performance.now(), loadAt: Date.now() }
  readonly #before: { readonly loads: number; readonly errors: number; readonly outdated: number }
  #stopped: ApiProcess | undefined
  #stoppedLoads = 0
  #longestWait = 0
  #ended: SideFigures | undefined

  readonly #onResponse = ({ latency, sentAt, process }: Response): void => {
    if (sentAt >= this.#began.sentAt && process !== this.#stopped)
      this.#longestWait = Math.max(this.#longestWait, latency)
  }

  constructor(side: Side) {
    this.#side = side
    this.#before = { loads: side.fleet.begun, errors: side.figures.errors, outdated: side.figures.outdated }
    side.listeners.add(this.#onResponse)
  }

  get strategy(): StrategyName {
    return this.#side.fleet.strategy
  }

  /** The button stops this process, in the middle of its loads. */
  stopped(process: ApiProcess): void {
    this.#stopped = process
    this.#stoppedLoads = Math.min(process.loads.running, this.#side.fleet.begun - this.#before.loads)
  }

  figures(): SideFigures {
    if (this.#ended !== undefined) return this.#ended
    const { fleet, figures } = this.#side
    const waits = this.#open(performance.now()).map(({ sentAt }) => performance.now() - sentAt)
    return {
      strategy: fleet.strategy,
      pid: this.#stopped?.pid,
      loads: fleet.begun - this.#before.loads - this.#stoppedLoads,
      longestWait: Math.round(Math.max(this.#longestWait, ...waits)),
      errors: figures.errors - this.#before.errors,
      outdated: figures.outdated - this.#before.outdated,
    }
  }

  end(): void {
    this.#ended ??= this.figures()
    this.#side.listeners.delete(this.#onResponse)
  }

  /** Ends when the side has a ranking whose load began after `since`, and every request that was sent until then is answered. */
  async settle(since = this.#began.loadAt): Promise<void> {
    const deadline = performance.now() + SETTLES_WITHIN_MS
    const goesOn = (): boolean => this.#ended === undefined && performance.now() < deadline
    while (goesOn() && this.#side.fleet.newest < since) await sleep(LOOK_MS)
    const there = performance.now()
    while (goesOn() && this.#open(there).length > 0) await sleep(LOOK_MS)
    this.end()
  }

  /** The requests without a response that were sent since the press, and before this time. */
  #open(before: number): readonly { readonly sentAt: number }[] {
    const asked = ({ sentAt, process }: { sentAt: number; process: ApiProcess }): boolean =>
      sentAt >= this.#began.sentAt && sentAt < before && process !== this.#stopped
    return [...this.#side.clients.open].filter(asked)
  }
}

/** The sides of which the sentence after a press tells. */
const TOLD: ReadonlySet<StrategyName> = new Set(['token-lock', 'cattlegrid'])

/** What happens to all sides after a press. */
export class Aftermath {
  readonly sides: readonly SideAftermath[]

  constructor(sides: readonly Side[]) {
    this.sides = sides.map((side) => new SideAftermath(side))
  }

  readonly figures = (): readonly SideFigures[] => this.sides.map((side) => side.figures())

  end(): void {
    for (const side of this.sides) side.end()
  }

  /**
   * Each side ends for itself: one that has recovered does not count on while another waits. Resolves when the two that are told of have
   * ended; the table goes on counting the others.
   */
  async settle(since?: number): Promise<readonly SideFigures[]> {
    const ends = this.sides.map((side) => ({ strategy: side.strategy, ended: side.settle(since) }))
    await Promise.all(ends.filter(({ strategy }) => TOLD.has(strategy)).map(({ ended }) => ended))
    return this.figures()
  }
}
