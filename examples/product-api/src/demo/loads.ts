import type { Pool } from 'pg'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RankingRoute } from '../ranking.ts'
import { ExpiryCount } from './expiries.ts'

export interface Loads {
  /** The number of ranking queries that the database ran. */
  readonly total: number
  /** The largest number of them that waited or ran at one moment. */
  readonly mostAtOnce: number
  /** The number of expiries that these loads served: see ExpiryCount. */
  readonly expiries: number
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
    expiries: countExpiries(
      beginnings.rows.map((row) => row.began),
      ttlMs,
    ),
  }
}

function countExpiries(beginnings: readonly number[], ttlMs: number): number {
  const count = new ExpiryCount(ttlMs)
  for (const began of beginnings) count.load(began)
  return count.expiries
}

/** Resolves when the loads of aborted requests have ended, so that they do not slow down the next run. */
export async function loadsDone(pool: Pool): Promise<void> {
  for (;;) {
    const open = await pool.query('select 1 from cattlegrid_demo.loads where ended_at is null limit 1')
    if (open.rowCount === 0) return
    await sleep(100)
  }
}
