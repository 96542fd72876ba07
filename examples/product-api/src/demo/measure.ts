import type { Pool } from 'pg'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Framework } from '../api.ts'
import type { RankingRoute } from '../ranking.ts'
import { originsOf, type Fleet } from './fleet.ts'
import { loadsDone, readLoads } from './loads.ts'
import type { Progress } from './progress.ts'
import { driveTraffic } from './traffic.ts'
import type { Run, Runs } from './verdict.ts'

/** The ttl of both protected routes. */
const TTL_MS = 1_000

const CONNECTIONS = 40
const POLL_MS = 250
/** An entry that did not expire for this many looks does not expire. */
const MOST_LOOKS = 240

const PATHS: Readonly<Record<RankingRoute, string>> = {
  unprotected: '/unprotected/ranking',
  strict: '/strict/ranking',
  ranking: '/ranking',
}

const NAMES: Readonly<Record<Framework, string>> = { express: 'Express', fastify: 'Fastify' }

const GUARDED = [
  { route: 'strict', suffix: '' },
  { route: 'ranking', suffix: ' + stale' },
] as const

export interface MeasureOptions {
  readonly fleets: readonly Fleet[]
  readonly pool: Pool
  readonly expiries: number
  readonly progress: Progress
  readonly onTraffic: (stop: () => Promise<void>) => void
}

/** Drives the same traffic at three routes with one handler: the unprotected route of all apps, then both protected routes of each app. */
export async function measure(options: MeasureOptions): Promise<Runs> {
  const { fleets } = options
  const unprotected = await drive('unprotected', { name: 'unprotected', fleets }, timePassed(options), options)
  const guarded: Run[] = []
  for (const { route, suffix } of GUARDED) {
    const until = expiriesSeen(route, options)
    const runs = fleets.map((fleet) =>
      drive(route, { name: NAMES[fleet.app] + suffix, fleets: [fleet] }, until, options),
    )
    guarded.push(...(await Promise.all(runs)))
  }
  return { unprotected, guarded }
}

interface Column {
  readonly name: string
  readonly fleets: readonly Fleet[]
}

async function drive(
  route: RankingRoute,
  { name, fleets }: Column,
  until: Promise<unknown>,
  { pool, progress, onTraffic }: MeasureOptions,
): Promise<Run> {
  const origins = fleets.flatMap(originsOf)
  const connectionsEach = CONNECTIONS / origins.length
  const traffic = await driveTraffic({ origins, path: PATHS[route], connectionsEach, until, onStart: onTraffic })
  progress.say('letting the database finish')
  await loadsDone(pool)
  const apps = fleets.map((fleet) => fleet.app)
  return { name, processes: origins.length, traffic, loads: await readLoads(pool, route, apps, TTL_MS) }
}

/** Resolves after the shortest time in which the wanted expiries can happen. */
async function timePassed({ expiries, progress }: MeasureOptions): Promise<void> {
  for (let passed = 0; passed < expiries; passed += 1) {
    progress.say(`driving ${PATHS.unprotected}: ${passed} of ${expiries} s`)
    await sleep(TTL_MS)
  }
}

/** Resolves when the entry of every fleet has expired often enough, or does not expire. */
async function expiriesSeen(route: RankingRoute, { fleets, pool, expiries, progress }: MeasureOptions): Promise<void> {
  let seen = 0
  for (let looks = 0; seen < expiries && looks < MOST_LOOKS; looks += 1) {
    progress.say(`driving ${PATHS[route]}: expiry ${seen} of ${expiries}`)
    await sleep(POLL_MS)
    const loads = await Promise.all(fleets.map((fleet) => readLoads(pool, route, [fleet.app], TTL_MS)))
    const least = Math.min(...loads.map((each) => each.expiries))
    if (least > seen) looks = 0
    seen = least
  }
}
