import type { Pool } from 'pg'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RankingRoute } from '../ranking.ts'
import { loadsDone, readLoads } from './loads.ts'
import type { Progress } from './progress.ts'
import { driveTraffic } from './traffic.ts'
import type { Run, Runs } from './verdict.ts'

/** The ttl of both protected routes. */
export const TTL_MS = 1_000

const CONNECTIONS = 40
const DRAIN_AT_MOST_MS = 60_000
const POLL_MS = 250

export interface MeasureOptions {
  readonly origins: readonly string[]
  readonly pool: Pool
  readonly expiries: number
  readonly progress: Progress
  readonly onTraffic: (stop: () => Promise<void>) => void
}

/** The same traffic at the three mounts of one handler, one after another. */
export async function measure(options: MeasureOptions): Promise<Runs> {
  const unprotected = await drive('unprotected', 'unprotected', timePassed(options), options)
  const strict = await drive('protected', 'strict', expiriesSeen('strict', options), options)
  const stale = await drive('+ stale allowed', 'ranking', expiriesSeen('ranking', options), options)
  // Nothing expires where nothing is cached: each ttl of the time driven counts as one.
  const periods = Math.round((unprotected.traffic.seconds * 1_000) / TTL_MS)
  return { unprotected: { ...unprotected, loads: { ...unprotected.loads, periods } }, guarded: [strict, stale] }
}

const PATHS: Readonly<Record<RankingRoute, string>> = {
  unprotected: '/unprotected/ranking',
  strict: '/strict/ranking',
  ranking: '/ranking',
}

async function drive(
  name: string,
  route: RankingRoute,
  until: Promise<unknown>,
  { origins, pool, progress, onTraffic }: MeasureOptions,
): Promise<Run> {
  const traffic = await driveTraffic({
    origins,
    path: PATHS[route],
    connectionsEach: CONNECTIONS / origins.length,
    until,
    onStart: onTraffic,
  })
  progress.say('letting the database finish')
  await loadsDone(pool, DRAIN_AT_MOST_MS)
  return { name, traffic, loads: await readLoads(pool, route, TTL_MS) }
}

/** Resolves after as long as the wanted expiries take at the least. */
async function timePassed({ expiries, progress }: MeasureOptions): Promise<void> {
  for (let passed = 0; passed < expiries; passed += 1) {
    progress.say(`driving ${PATHS.unprotected}: ${passed} of ${expiries} s`)
    await sleep(TTL_MS)
  }
}

/** Resolves when the entry has expired and been loaded anew often enough, or should have been twice over. */
async function expiriesSeen(route: RankingRoute, { pool, expiries, progress }: MeasureOptions): Promise<void> {
  const deadline = performance.now() + 2 * expiries * TTL_MS + 5_000
  for (let periods = 0; periods <= expiries && performance.now() < deadline;) {
    progress.say(`driving ${PATHS[route]}: expiry ${Math.max(0, periods - 1)} of ${expiries}`)
    await sleep(POLL_MS)
    periods = (await readLoads(pool, route, TTL_MS)).periods
  }
}
