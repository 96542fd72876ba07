import type { StrategyName } from '../../strategies/strategy.ts'
import type { Response } from './clients.ts'
import type { StrategyFleet } from './strategy-fleet.ts'

export interface Lane {
  readonly pid: number
  readonly state: 'up' | 'frozen' | 'ended'
  /** For how long it has been frozen, or has been ended, s. */
  readonly stoppedFor?: number | undefined
  readonly leads: boolean
  readonly running: number
  readonly waiting: number
  readonly fresh: number
  readonly stale: number
  readonly failed: number
}

/** One second of one strategy. */
export interface Sample {
  readonly strategy: StrategyName
  readonly requests: number
  readonly errors: number
  /** Milliseconds; null in a second without a response. */
  readonly p50: number | null
  readonly p99: number | null
  /** Loads begun. */
  readonly loads: number
  /** The most loads in flight at one moment. */
  readonly inFlight: number
  readonly waiting: number
  readonly stale: number
  /** Responses older than an earlier one, or than an invalidation that was acknowledged before they were asked for. */
  readonly outdated: number
  readonly lanes: readonly Lane[]
  readonly sum: {
    /** By the database's own count. */
    readonly loads: number
    readonly expiries: number
    /** The loads of the last expiry. */
    readonly lastExpiry: number
    /** Answers for which the client waited for a load. */
    readonly waited: number
    readonly outdated: number
    readonly errors: number
  }
}

/** The latencies that are kept for the table. */
const MOST_LATENCIES = 100_000

/** Counts the responses of one strategy, and sums them up for each second. */
export class Figures {
  readonly latencies: number[] = []
  requests = 0
  errors = 0
  outdated = 0
  /** Answers for which the client waited for a load. */
  waited = 0
  /** The loads that the database has counted. */
  databaseLoads = 0
  readonly #fleet: StrategyFleet
  #second = { latencies: [] as number[], errors: 0, outdated: 0 }
  /** No response to a later request may be older. */
  #newest = { revision: 0, since: 0 }

  constructor(fleet: StrategyFleet) {
    this.#fleet = fleet
  }

  onResponse({ latency, revision, waited, sentAt }: Response): void {
    this.requests += 1
    if (waited) this.waited += 1
    if (revision === undefined) {
      this.errors += 1
      this.#second.errors += 1
      return
    }
    this.#second.latencies.push(latency)
    if (this.latencies.length < MOST_LATENCIES) this.latencies.push(latency)
    if (revision < this.#newest.revision && sentAt >= this.#newest.since) {
      this.outdated += 1
      this.#second.outdated += 1
    }
    this.mustReach(revision)
  }

  /** From now on, a response with an older revision is outdated. */
  mustReach(revision: number): void {
    if (revision > this.#newest.revision) this.#newest = { revision, since: performance.now() }
  }

  takeSample(): Sample {
    const { latencies, errors, outdated } = this.#second
    this.#second = { latencies: [], errors: 0, outdated: 0 }
    const sorted = latencies.toSorted((a, b) => a - b)
    const lanes = this.#fleet.lanes.map((process): Lane => {
      const { fresh, stale, failed, waiting, leads } = process.takeReport()
      const { pid, ended, frozen, stoppedAt } = process
      const { running } = process.loads
      const state = ended ? 'ended' : frozen ? 'frozen' : 'up'
      const stoppedFor = stoppedAt === undefined ? undefined : (performance.now() - stoppedAt) / 1_000
      const counted = ended ? { leads: false, waiting: 0 } : { leads, waiting }
      return { pid, state, stoppedFor, running, fresh, stale, failed, ...counted }
    })
    const { expiries, loads: lastExpiry } = this.#fleet.expiryCount
    const { begun, peak } = this.#fleet.takeLoads()
    return {
      strategy: this.#fleet.strategy,
      requests: latencies.length,
      errors,
      p50: percentile(sorted, 0.5),
      p99: percentile(sorted, 0.99),
      loads: begun,
      inFlight: peak,
      waiting: lanes.reduce((sum, { waiting }) => sum + waiting, 0),
      stale: lanes.reduce((sum, { stale }) => sum + stale, 0),
      outdated,
      lanes,
      sum: {
        loads: this.databaseLoads,
        expiries,
        lastExpiry,
        waited: this.waited,
        outdated: this.outdated,
        errors: this.errors,
      },
    }
  }
}

export function percentile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null
}
