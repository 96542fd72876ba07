import type { Explanation } from '@cattlegrid/core'
import { startChild } from '../../child.ts'
import type { StrategyName } from '../../strategies/strategy.ts'
import { ApiProcess } from './api-process.ts'

export interface StrategyFleetOptions {
  readonly strategy: StrategyName
  /** Processes start while the database does. */
  readonly databaseUrl: Promise<string>
  readonly redisUrl: string
  readonly onSpawn: (stop: () => Promise<void>) => void
}

/** The queries of one expiry: those that began while others of the same strategy ran. */
interface Herd {
  queries: number
}

/** The API processes of one strategy, and the loads that they run. */
export class StrategyFleet {
  readonly strategy: StrategyName
  /** In the order of their lanes; a lane whose process ended keeps it until another takes its place. */
  readonly lanes: ApiProcess[] = []
  /** Loads that were asked of the database and are not answered. */
  inFlight = 0
  /** Expiries that made at least one query. */
  expiries = 0
  herd: Herd = { queries: 0 }
  #peak = 0
  #begun = 0
  readonly #options: StrategyFleetOptions
  readonly #loadListeners = new Set<(process: ApiProcess) => void>()

  constructor(options: StrategyFleetOptions) {
    this.strategy = options.strategy
    this.#options = options
  }

  /** Starts a process in a lane: a further one, or that of a process that has ended. */
  async start(lane: number = this.lanes.length): Promise<ApiProcess> {
    const { strategy, databaseUrl, redisUrl, onSpawn } = this.#options
    const env = {
      REDIS_URL: redisUrl,
      NAMESPACE: `product-api-demo-${process.pid}-${strategy}`,
    }
    const child = await startChild('./strategy-process.ts', { args: [strategy], env, onSpawn })
    const started: ApiProcess = new ApiProcess(child, (change) => this.#onLoads(started, change))
    await started.ask({ ask: 'use-database', url: await databaseUrl })
    this.lanes[lane] = started
    return started
  }

  /** Ends the process of the last lane. */
  async removeLast(): Promise<void> {
    await this.lanes.pop()?.stop()
  }

  get alive(): readonly ApiProcess[] {
    return this.lanes.filter(({ ended }) => !ended)
  }

  /** The process that a load balancer would choose: it knows who has ended, and who has the fewest requests open. */
  next(): ApiProcess | undefined {
    return this.alive.toSorted((one, other) => one.outstanding - other.outstanding)[0]
  }

  /** Ends the lifetime of the entry, in every process. */
  async expire(): Promise<void> {
    // A frozen process has what it is asked for when it goes on.
    await Promise.all(this.alive.filter(({ frozen }) => !frozen).map((process) => process.ask({ ask: 'expire' })))
  }

  /** What a process that is not frozen says of the entry's key, for all processes; undefined if none does. */
  async explain(): Promise<Explanation | undefined> {
    const asked = this.alive.find(({ frozen }) => !frozen)
    return (await asked?.ask({ ask: 'explain' }))?.explanation
  }

  /** A process in the middle of a load, now or as soon as there is one; undefined if there is none in time. */
  whenLoading(atMostMs: number): Promise<ApiProcess | undefined> {
    const loading = this.alive.find(({ reading, frozen }) => reading > 0 && !frozen)
    if (loading !== undefined) return Promise.resolve(loading)
    return new Promise((resolve) => {
      const settle = (process?: ApiProcess): void => {
        clearTimeout(timer)
        this.#loadListeners.delete(settle)
        resolve(process)
      }
      const timer = setTimeout(settle, atMostMs)
      this.#loadListeners.add(settle)
    })
  }

  /** The queries begun, and the most in flight, since the last call. */
  takeLoads(): { readonly begun: number; readonly peak: number } {
    const taken = { begun: this.#begun, peak: this.#peak }
    this.#begun = 0
    this.#peak = this.inFlight
    return taken
  }

  #onLoads(process: ApiProcess, change: number): void {
    if (change > 0) this.#onBegin(change)
    this.inFlight += change
    this.#peak = Math.max(this.#peak, this.inFlight)
    if (process.reading > 0) for (const listener of this.#loadListeners) listener(process)
  }

  #onBegin(count: number): void {
    if (this.inFlight === 0) {
      this.herd = { queries: 0 }
      this.expiries += 1
    }
    this.herd.queries += count
    this.#begun += count
  }
}
