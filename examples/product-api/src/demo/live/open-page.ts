import type { RedisServer } from '@cattlegrid/testkit'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { openDatabase, openPool } from '../../database.ts'
import { TTL_MS, type StrategyName } from '../../strategies/strategy.ts'
import type { Cleanup } from '../cleanup.ts'
import { readLoads } from '../loads.ts'
import type { DemoOptions } from '../options.ts'
import type { Progress } from '../progress.ts'
import { COUNTS, TIMES, type Report } from '../report.ts'
import type { Run } from '../verdict.ts'
import { ActionBoard } from './action-board.ts'
import { Conditions } from './conditions.ts'
import { entryActions } from './entry-actions.ts'
import { percentile } from './figures.ts'
import { Flush } from './flush.ts'
import { servePage } from './page-server.ts'
import { processActions } from './process-actions.ts'
import { redisActions } from './redis-actions.ts'
import { RedisControl } from './redis-control.ts'
import { Show } from './show.ts'
import type { Side } from './side.ts'

export interface OpenPage {
  readonly url: string
  /** The table of the traffic so far, once it has expired often enough. */
  readonly report: Promise<Report>
}

const POOL_GRACE_MS = 3_000

const NOTES = `
  unprotected        a plain cache in Redis: whoever finds no entry loads
  in-process         a cache in the memory of each process
  naive lock         SET NX PX with a token; the others poll
  waited for a load  answers that came from no entry, not even a stale one
${COUNTS}
  p99, slowest       by the clients, of which all of a side ask at once;
                     ${TIMES}`

const NAMES: Readonly<Record<StrategyName, string>> = {
  unprotected: 'unprotected',
  'in-process': 'in-process',
  'token-lock': 'naive lock',
  cattlegrid: 'cattlegrid',
}

/** Starts what the page shows, and serves it. `cleanup` can stop each part from the moment it exists. */
export async function openPage(
  options: DemoOptions,
  redisServer: RedisServer,
  progress: Progress,
  cleanup: Cleanup,
): Promise<OpenPage> {
  const redis = new RedisControl(redisServer)
  cleanup.defer(() => redis.close())
  const opening = openDatabase({
    seed: options.seed,
    url: options.databaseUrl,
    onProgress: progress.say,
    onStarted: cleanup.defer,
  })
  const databaseUrl = opening.then(({ url }) => url)
  // If it fails before a process asks for it, `opening` says so.
  databaseUrl.catch(() => undefined)
  const show = new Show({ databaseUrl, redis, onSpawn: cleanup.defer })
  progress.say('starting the API: two processes for each of four strategies')
  const [database] = await Promise.all([opening, show.startProcesses()])
  for (const { strategy, lanes } of show.fleets) {
    for (const { pid, url } of lanes) progress.say(`${strategy} is process ${pid} at ${url}`)
  }
  const pool = openPool(database.url, 3)
  // A query that hangs must not keep the demo from its end.
  cleanup.defer(() => Promise.race([pool.end(), sleep(POOL_GRACE_MS)]))
  const conditions = new Conditions(pool)
  await conditions.create()
  const flush = new Flush({ redisUrl: redis.url, onSpawn: cleanup.defer })
  const actions = [...entryActions(show, conditions), ...processActions(show, conditions), ...redisActions(show, redis)]
  const board = new ActionBoard([...actions, flush.action], () => show.seconds, options.hold)
  cleanup.defer(async () => board.close())
  cleanup.defer(() => show.stopTraffic())
  await show.warmUp()
  show.startTraffic(pool)
  const { url, atWantedPort, close } = await servePage({
    show,
    board,
    flush,
    port: options.port,
    explain: () => show.explain(),
  })
  cleanup.defer(close)
  if (!atWantedPort) progress.note(`Port ${options.port} is in use, so the page has another one.`)
  const server = database.kind === 'pglite' ? 'PGlite' : 'Postgres'
  return { url, report: reportAfter(options.expiries, show, pool, server) }
}

async function reportAfter(expiries: number, show: Show, pool: Pool, server: string): Promise<Report> {
  while (show.fleets.some(({ expiryCount }) => expiryCount.expiries < expiries)) await sleep(500)
  const runs = await Promise.all(show.sides.map((side) => runOf(side, show.seconds, pool)))
  return { title: `The traffic of the page, over ${server}, one Redis`, runs, notes: NOTES }
}

async function runOf({ fleet, figures }: Side, seconds: number, pool: Pool): Promise<Run> {
  const { strategy, lanes, expiryCount } = fleet
  const { expiries } = expiryCount
  const sorted = figures.latencies.toSorted((a, b) => a - b)
  return {
    name: NAMES[strategy],
    processes: lanes.length,
    traffic: {
      seconds,
      requests: figures.requests,
      waited: figures.waited,
      errors: figures.errors,
      p99: percentile(sorted, 0.99) ?? 0,
      slowest: sorted.at(-1) ?? 0,
    },
    loads: { ...(await readLoads(pool, 'live', [strategy], TTL_MS)), expiries },
  }
}
