import type { Explanation } from '@cattlegrid/explain'
import type { Pool } from 'pg'
import { STRATEGIES } from '../../strategies/strategy.ts'
import { errorText } from '../../error-text.ts'
import { Aftermath, type SideFigures } from './aftermath.ts'
import { Clients, type Response } from './clients.ts'
import { Figures, type Sample } from './figures.ts'
import type { RedisControl } from './redis-control.ts'
import type { Side } from './side.ts'
import { StrategyFleet } from './strategy-fleet.ts'

export const CLIENTS = 50
const PROCESSES = 2
const SAMPLE_MS = 1_000
const KEPT_SAMPLES = 90
const LOADS = "select app, count(*)::integer as loads from cattlegrid_demo.loads where route = 'live' group by app"

export interface Tick {
  /** Seconds since the start. */
  readonly at: number
  readonly samples: readonly Sample[]
  /** Why the database does not count the loads. */
  readonly trouble?: string | undefined
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
  #trouble: string | undefined
  #settling: Aftermath | undefined

  constructor({ databaseUrl, redis, onSpawn }: ShowOptions) {
    this.redis = redis
    this.sides = STRATEGIES.map((strategy) => {
      const fleet = new StrategyFleet({ strategy, databaseUrl, redisUrl: redis.url, onSpawn })
      const figures = new Figures(fleet)
      const listeners = new Set<(response: Response) => void>()
      const clients = new Clients(fleet, CLIENTS, (response) => {
        figures.onResponse(response)
        for (const listener of listeners) listener(response)
      })
      return { fleet, figures, clients, listeners }
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

  /** Every side has its ranking before its clients come: none of them waits for the first one. */
  async warmUp(): Promise<void> {
    const warm = async ({ lanes }: StrategyFleet): Promise<void> => {
      for (const { url } of lanes) await (await fetch(`${url}/ranking`)).arrayBuffer()
    }
    await Promise.all(this.fleets.map(warm))
  }

  /** Counts what happens from now on. An aftermath that still settles ends here: it would count this press, too. */
  watch(): Aftermath {
    this.#settling?.end()
    return new Aftermath(this.sides)
  }

  /** See `settle` of the aftermath. */
  async settle(aftermath: Aftermath, since?: number): Promise<readonly SideFigures[]> {
    this.#settling = aftermath
    return await aftermath.settle(since)
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
    const samples = this.sides.map(({ figures }) => figures.takeSample())
    const tick = { at: Math.round(this.seconds), samples, trouble: this.#trouble }
    this.ticks.push(tick)
    if (this.ticks.length > KEPT_SAMPLES) this.ticks.shift()
    for (const listener of this.#listeners) listener(tick)
  }

  /** Asks the database how many loads it has seen; while it is busy that takes more than a second. */
  async #countQueries(pool: Pool): Promise<void> {
    if (this.#counting) return
    this.#counting = true
    try {
      const { rows } = await pool.query<{ app: string; loads: number }>(LOADS)
      for (const { figures, fleet } of this.sides)
        figures.databaseLoads = rows.find(({ app }) => app === fleet.strategy)?.loads ?? 0
      this.#trouble = undefined
    } catch (error) {
      // The page shows the last count, and this.
      this.#trouble = `the database does not count: ${errorText(error)}`
    } finally {
      this.#counting = false
    }
  }
}
