import type { Pool } from 'pg'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RankingRoute } from '../ranking.ts'

export interface Loads {
  /** The number of ranking queries that the database ran. */
  readonly total: number
  /** The largest number of them that waited or ran at one moment. */
  readonly mostAtOnce: number
  /** The number of lifetimes of the entry that these loads filled: see countPeriods. */
  readonly periods: number
}

const BEGINNINGS = `
  select (extract(epoch from began_at) * 1000)::float8 as began
  from cattlegrid_demo.loads
  where route = $1 and app = any($2)
  order by began_at`

// If one load ends at the moment at which another begins, the end counts first.
const MOST_AT_ONCE = `
  with asked as (
    select began_at, ended_at from cattlegrid_demo.loads where route = $1 and app = any($2)
  ), steps as (
    select began_at as at, 1 as change from asked
    union all
    select ended_at, -1 from asked where ended_at is not null
  )
  select coalesce(max(running), 0)::integer as most
  from (select sum(change) over (order by at, change) as running from steps) as sums`

/** The loads of one route, over the given apps. */
export async function readLoads(
  pool: Pool,
  route: RankingRoute | 'live',
  apps: readonly string[],
  ttlMs: number,
): Promise<Loads> {
  const beginnings = await pool.query<{ began: number }>(BEGINNINGS, [route, apps])
  const peak = await pool.query<{ most: number }>(MOST_AT_ONCE, [route, apps])
  return {
    total: beginnings.rows.length,
    mostAtOnce: peak.rows[0]?.most ?? 0,
    periods: countPeriods(
      beginnings.rows.map((row) => row.began),
      ttlMs,
    ),
  }
}

/**
 * Returns the number of lifetimes of the entry that a list of loads filled. A value is fresh for one ttl from its commit, and the commit comes
 * after the load began. So loads that begin within one ttl of the first of them served the same expiry, and all but the first
 * were unnecessary. With one load per expiry, periods and loads are equal, on a machine of any speed.
 */
export function countPeriods(beginnings: readonly number[], ttlMs: number): number {
  let periods = 0
  let opened = -Infinity
  for (const began of beginnings) {
    if (began - opened < ttlMs) continue
    opened = began
    periods += 1
  }
  return periods
}

/** Resolves when the loads of aborted requests have ended, so that they do not slow down the next run. */
export async function loadsDone(pool: Pool, atMostMs: number): Promise<void> {
  const deadline = performance.now() + atMostMs
  while (performance.now() < deadline) {
    const open = await pool.query('select 1 from cattlegrid_demo.loads where ended_at is null limit 1')
    if (open.rowCount === 0) return
    await sleep(200)
  }
  throw new Error('the database did not finish the rankings it was asked for')
}
