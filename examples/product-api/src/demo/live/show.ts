import type { Explanation } from '@cattlegrid/core'
import type { Pool } from 'pg'
import { STRATEGIES } from '../../strategies/strategy.ts'
import { Clients } from './clients.ts'
import { Figures, type Sample } from './figures.ts'
import type { RedisControl } from './redis-control.ts'
import { StrategyFleet } from './strategy-fleet.ts'

export const CLIENTS = 50
const PROCESSES = 2
const SAMPLE_MS = 1_000
const KEPT_SAMPLES = 90
const LOADS = "select app, count(*)::integer as loads from cattlegrid_demo.loads where route = 'live' group by app"

export interface Side {
  readonly fleet: StrategyFleet
  readonly clients: Clients
  readonly figures: Figures
}

export interface Tick {
  /** Seconds since the start. */
  readonly at: number
  readonly samples: readonly Sample[]
}

export interface ShowOptions {
  /** Resolves when the database is filled. */
  readonly databaseUrl: Promise<string>
  readonly redis: RedisControl
  readonly onSpawn: (stop: () => Promise<void>) => void
}

/** The four strategies side by side, under the same traffic over the same database. */
export class Show {
  readonly sides: readonly Side[]
  readonly redis: RedisControl
  /** The last seconds, the oldest first. */
  readonly ticks: Tick[] = []
  readonly #listeners = new Set<(tick: Tick) => void>()
  #timer: NodeJS.Timeout | undefined
  #began = 0
  #counting = false

  constructor({ databaseUrl, redis, onSpawn }: ShowOptions) {
    this.redis = redis
    this.sides = STRATEGIES.map((strategy) => {
      const fleet = new StrategyFleet({ strategy, databaseUrl, redisUrl: redis.url, onSpawn })
      const figures = new Figures(fleet)
      const clients = new Clients(fleet, CLIENTS, (response) => figures.onResponse(response))
      return { fleet, figures, clients }
    })
  }

  get fleets(): readonly StrategyFleet[] {
    return this.sides.map(({ fleet }) => fleet)
  }

  /** The story of the key of cattlegrid's side. */
  async explain(): Promise<Explanation | undefined> {
    return await this.fleets.find(({ strategy }) => strategy === 'cattlegrid')?.explain()
  }

  get seconds(): number {
    return (performance.now() - this.#began) / 1_000
  }

  async startProcesses(): Promise<void> {
    const starts = this.fleets.flatMap((fleet) => Array.from({ length: PROCESSES }, (_, lane) => fleet.start(lane)))
    await Promise.all(starts)
  }

  /** The clients of each strategy begin at another quarter of the second. */
  startTraffic(pool: Pool): void {
    this.#began = performance.now()
    this.sides.forEach(({ clients }, place) => clients.start((place * 1_000) / this.sides.length))
    this.#timer = setInterval(() => this.#sample(pool), SAMPLE_MS)
  }

  async stopTraffic(): Promise<void> {
    clearInterval(this.#timer)
    for (const { clients } of this.sides) clients.stop()
  }

  onTick(listener: (tick: Tick) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #sample(pool: Pool): void {
    void this.#countQueries(pool)
    const tick = { at: Math.round(this.seconds), samples: this.sides.map(({ figures }) => figures.takeSample()) }
    this.ticks.push(tick)
    if (this.ticks.length > KEPT_SAMPLES) this.ticks.shift()
    for (const listener of this.#listeners) listener(tick)
  }

  /** Asks the database how many queries it has run; while it is busy that takes more than a second. */
  async #countQueries(pool: Pool): Promise<void> {
    if (this.#counting) return
    this.#counting = true
    try {
      const { rows } = await pool.query<{ app: string; loads: number }>(LOADS)
      for (const { figures, fleet } of this.sides)
        figures.databaseQueries = rows.find(({ app }) => app === fleet.strategy)?.loads ?? 0
    } catch {
      // The database is on its way down, or lost: the page shows the last count.
    } finally {
      this.#counting = false
    }
  }
}
