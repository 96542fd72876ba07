import type { Pool } from 'pg'

export interface RankedProduct {
  readonly place: number
  readonly id: number
  readonly name: string
  readonly rating: number
  readonly reviews: number
  readonly fiveStars: number
}

/** The three routes with the same handler. */
export type RankingRoute = 'unprotected' | 'strict' | 'ranking'

/** The app and the route that asked for a ranking: the loads of each pair are counted separately. */
export interface LoadSource {
  readonly app: string
  readonly route: RankingRoute
}

// The database counts the loads, because the library under test must not count them itself. A first statement inserts
// a row into `loads`; the ranking statement sets its end (`noted` reads `best`, so the clock is read when `best` is
// complete). The insert is committed at once: PGlite runs one statement at a time, in order of arrival, so the rows of all
// callers are inserted before the first ranking runs, and `began_at` to `ended_at` spans waiting and running, by the database's
// clock. If callers arrive while a long statement runs, their inserts wait for it: "most at once" is then too low, never
// too high.
const BEGIN_LOAD = 'insert into cattlegrid_demo.loads (app, route) values ($1, $2) returning id'

// Reads every review; no index helps. Measured: 51 to 67 ms for 200,000 on PGlite.
const RANK = `
  with weighed as (
    select product_id, stars, (1 + helpful) * (written_on - date '2024-12-31') as weight
    from cattlegrid_demo.reviews
  ), scores as (
    select product_id,
           count(*)::integer as reviews,
           (count(*) filter (where stars = 5))::integer as "fiveStars",
           sum(stars * weight)::float8 / sum(weight) as rating
    from weighed
    group by product_id
  ), best as materialized (
    select row_number() over (order by rating desc, product_id)::integer as place, product_id, rating, reviews, "fiveStars"
    from scores
    order by place
    limit 10
  ), noted as (
    update cattlegrid_demo.loads set ended_at = clock_timestamp()
    from (select count(*) from best) as complete
    where id = $1
  )
  select place, products.id, name, round(rating::numeric, 3)::float8 as rating, reviews, "fiveStars"
  from best join cattlegrid_demo.products on products.id = product_id
  order by place`

/** The ten best-rated products; recent and helpful reviews weigh more. This is the expensive query. */
export async function rankProducts(pool: Pool, { app, route }: LoadSource): Promise<RankedProduct[]> {
  const load = await pool.query<{ id: string }>(BEGIN_LOAD, [app, route])
  const ranked = await pool.query<RankedProduct>(RANK, [load.rows[0]?.id])
  return ranked.rows
}
