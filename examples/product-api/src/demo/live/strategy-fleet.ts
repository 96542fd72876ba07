import type { Explanation } from '@cattlegrid/explain'
import { startChild } from '../../child.ts'
import type { Loads } from '../../strategies/messages.ts'
import { TTL_MS, type StrategyName } from '../../strategies/strategy.ts'
import { ExpiryCount } from '../expiries.ts'
import { ApiProcess } from './api-process.ts'

export interface StrategyFleetOptions {
  readonly strategy: StrategyName
  /** Processes start while the database does. */
  readonly databaseUrl: Promise<string>
  readonly redisUrl: string
  readonly onSpawn: (stop: () => Promise<void>) => void
}

/** The API processes of one strategy, and the loads that they run. */
export class StrategyFleet {
  readonly strategy: StrategyName
  /** In the order of their lanes; a lane whose process ended keeps it until another takes its place. */
  readonly lanes: ApiProcess[] = []
  /** Loads that were asked of the database and are not answered. */
  inFlight = 0
  /** All loads that began. */
  begun = 0
  readonly expiryCount = new ExpiryCount(TTL_MS)
  #peak = 0
  #taken = 0
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
    const started: ApiProcess = new ApiProcess(child, (before) => this.#onLoads(started, before))
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

  /** The processes that can reply. A frozen one has what it is asked for when it goes on. */
  get awake(): readonly ApiProcess[] {
    return this.alive.filter(({ frozen }) => !frozen)
  }

  /** When the load of the newest ranking began, by the clock of the machine. */
  get newest(): number {
    return Math.max(0, ...this.lanes.map(({ loads }) => loads.newest))
  }

  /** Ends the lifetime of the entry, in every process. Returns why a process did not do it. */
  async expire(): Promise<string | undefined> {
    this.expiryCount.entryEnded()
    const replies = await Promise.all(this.awake.map((process) => process.ask({ ask: 'expire' })))
    return replies.find(({ error }) => error !== undefined)?.error
  }

  /** What a process that is not frozen says of the entry's key, for all processes; undefined if none does. */
  async explain(): Promise<Explanation | undefined> {
    return (await this.awake[0]?.ask({ ask: 'explain' }))?.explanation
  }

  /** A process in the middle of a load, now or as soon as there is one; undefined if there is none in time. */
  whenLoading(atMostMs: number): Promise<ApiProcess | undefined> {
    const loading = this.awake.find(({ loads }) => loads.reading > 0)
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
    const taken = { begun: this.begun - this.#taken, peak: this.#peak }
    this.#taken = this.begun
    this.#peak = this.inFlight
    return taken
  }

  #onLoads(process: ApiProcess, before: Loads): void {
    const { at, running, reading } = process.loads
    const change = running - before.running
    if (change > 0) {
      this.begun += change
      this.expiryCount.load(at)
    }
    this.inFlight += change
    this.#peak = Math.max(this.#peak, this.inFlight)
    if (reading > 0) for (const listener of this.#loadListeners) listener(process)
  }
}
