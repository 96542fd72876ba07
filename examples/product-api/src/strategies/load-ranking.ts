import { escapeLiteral, type Pool, type PoolClient } from 'pg'
import type { RankedProduct, Ranking, StrategyName } from './strategy.ts'

/**
 * What every load finds in the database, whichever process it runs in. `rounds`: how often each query reads the reviews; it makes them slow,
 * and 0 makes them fail, by a division in the database.
 */
export const CONDITIONS = `
  create table cattlegrid_demo.conditions (revision integer not null, rounds integer not null);
  insert into cattlegrid_demo.conditions values (1, 1)`

const CATEGORIES = ['light', 'seating', 'kitchen'] as const

// None of these statements has parameters, so that each is one message. A process is killed in the middle of its load, and PGlite, which has one
// session for all, waits for ever for the rest of a statement of several messages.
const beginLoad = (strategy: string): string => `
  insert into cattlegrid_demo.loads (app, route) values (${strategy}, 'live')
  returning id, (select revision from cattlegrid_demo.conditions) as revision`

const bestOf = (category: string): string => `
  select products.id, name, round(avg(stars), 3)::float8 as rating
  from cattlegrid_demo.reviews join cattlegrid_demo.products on products.id = product_id,
       generate_series(1, (select rounds / least(rounds, 1) from cattlegrid_demo.conditions)) as round
  where category = ${category}
  group by products.id, name
  order by rating desc, products.id
  limit 3`

const endLoad = (id: string): string => `update cattlegrid_demo.loads set ended_at = clock_timestamp() where id = ${id}`

/**
 * The best products of each category, by one query after another on one connection: the loads of several callers share the database fairly, and
 * slow each other down. The database records when each of them began and ended. `onReading`: its revision is read, and later its ranking.
 */
export async function loadRanking(
  pool: Pool,
  strategy: StrategyName,
  onReading: (change: 1 | -1) => void,
): Promise<Ranking> {
  const connection = await pool.connect()
  try {
    return await rank(connection, strategy, onReading)
  } finally {
    connection.release()
  }
}

async function rank(
  connection: PoolClient,
  strategy: StrategyName,
  onReading: (change: 1 | -1) => void,
): Promise<Ranking> {
  const begun = await connection.query<{ id: string; revision: number }>(beginLoad(escapeLiteral(strategy)))
  const { id = '0', revision = 0 } = begun.rows[0] ?? {}
  onReading(1)
  try {
    const best: RankedProduct[] = []
    for (const category of CATEGORIES) {
      const { rows } = await connection.query<RankedProduct>(bestOf(escapeLiteral(category)))
      best.push(...rows)
    }
    return { revision, best }
  } finally {
    onReading(-1)
    await connection.query(endLoad(escapeLiteral(id)))
  }
}
