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
}

/** The same traffic at the three mounts of one handler, one after another. */
export async function measure(options: MeasureOptions): Promise<Runs> {
  const plainTime = options.expiries * TTL_MS
  const unprotected = await drive('unprotected', '/unprotected/ranking', 'unprotected', sleep(plainTime), options)
  const strict = await drive('protected', '/strict/ranking', 'strict', expiriesSeen('strict', options), options)
  const stale = await drive('+ stale allowed', '/ranking', 'ranking', expiriesSeen('ranking', options), options)
  return { unprotected, guarded: [strict, stale] }
}

async function drive(
  name: string,
  path: string,
  route: RankingRoute,
  until: Promise<unknown>,
  { origins, pool, progress }: MeasureOptions,
): Promise<Run> {
  progress.say(`driving ${path} with ${CONNECTIONS} connections`)
  const traffic = await driveTraffic({ origins, path, connectionsEach: CONNECTIONS / origins.length, until })
  progress.say('letting the database finish')
  await loadsDone(pool, DRAIN_AT_MOST_MS)
  return { name, traffic, loads: await readLoads(pool, route, TTL_MS) }
}

/** Resolves when the entry has expired and been loaded anew often enough, or should have been twice over. */
async function expiriesSeen(route: RankingRoute, { pool, expiries, progress }: MeasureOptions): Promise<void> {
  const deadline = performance.now() + 2 * expiries * TTL_MS + 5_000
  while (performance.now() < deadline) {
    await sleep(POLL_MS)
    const { periods } = await readLoads(pool, route, TTL_MS)
    progress.say(
      `driving /${route === 'strict' ? 'strict/' : ''}ranking`,
      `expiry ${Math.max(0, periods - 1)} of ${expiries}`,
    )
    if (periods > expiries) return
  }
}
