import type { Pool } from 'pg'

/** Everything that this example creates is in this schema: dropping it restores the database. */
const SCHEMA = 'cattlegrid_demo'

const TABLES = `
  create table cattlegrid_demo.products (
    id          integer primary key,
    name        text    not null,
    category    text    not null,
    price_cents integer not null check (price_cents > 0)
  );
  create table cattlegrid_demo.reviews (
    id         integer  primary key,
    product_id integer  not null references cattlegrid_demo.products,
    stars      smallint not null check (stars between 1 and 5),
    helpful    integer  not null,
    written_on date     not null
  );
  -- The database's own record of every ranking query: see ranking.ts.
  create table cattlegrid_demo.loads (
    id       bigint generated always as identity primary key,
    app      text        not null,
    route    text        not null,
    began_at timestamptz not null default clock_timestamp(),
    ended_at timestamptz
  );`

const PRODUCTS = `
  insert into cattlegrid_demo.products
  select n,
         (array['Oak', 'Birch', 'Steel', 'Linen', 'Clay', 'Cork', 'Glass'])[1 + n % 7] || ' '
           || (array['lamp', 'chair', 'kettle', 'shelf', 'bowl', 'clock', 'basket', 'stool'])[1 + n % 8] || ' no. ' || n,
         (array['light', 'seating', 'kitchen', 'storage', 'table'])[1 + n % 5],
         500 + (n * 7919) % 20000
  from generate_series(1, $1::integer) as n`

// Hashes instead of random(): every run ranks the same data.
const REVIEWS = `
  insert into cattlegrid_demo.reviews
  select n,
         1 + (hashint4(n) & 2147483647) % $3::integer,
         greatest(1, 5 - (hashint4(n + 17) & 2147483647) % 7 % 5),
         (hashint4(n + 31) & 2147483647) % 50,
         date '2025-01-01' + n % 365
  from generate_series($1::integer, $2::integer) as n`

const REVIEWS_AT_A_TIME = 20_000

export interface Seed {
  readonly products: number
  readonly reviews: number
}

export const FULL_SEED: Seed = { products: 2_000, reviews: 200_000 }

/** Creates the schema. Fails and changes nothing if it exists: it may belong to a run under way. */
export async function createSchema(pool: Pool): Promise<void> {
  if (await hasSchema(pool)) {
    throw new Error(
      `the database already has a schema ${SCHEMA}: another run uses it, or a run was killed. ` +
        `If no run uses it: drop schema ${SCHEMA} cascade`,
    )
  }
  await pool.query(`create schema ${SCHEMA}`)
}

export async function hasSchema(pool: Pool): Promise<boolean> {
  const found = await pool.query('select 1 from pg_namespace where nspname = $1', [SCHEMA])
  return found.rowCount === 1
}

export async function dropSchema(pool: Pool): Promise<void> {
  await pool.query(`drop schema if exists ${SCHEMA} cascade`)
}

/** Fills the schema in batches, and reports the number of reviews after each. */
export async function fillSchema(pool: Pool, seed: Seed, onReviews: (written: number) => void): Promise<void> {
  await pool.query(TABLES)
  await pool.query(PRODUCTS, [seed.products])
  for (let from = 1; from <= seed.reviews; from += REVIEWS_AT_A_TIME) {
    const to = Math.min(from + REVIEWS_AT_A_TIME - 1, seed.reviews)
    await pool.query(REVIEWS, [from, to, seed.products])
    onReviews(to)
  }
  await pool.query('analyze cattlegrid_demo.products, cattlegrid_demo.reviews')
}
