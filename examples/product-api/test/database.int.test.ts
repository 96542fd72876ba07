import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openDatabase, openPool, type Database } from '../src/database.ts'
import { loadsDone, readLoads } from '../src/demo/loads.ts'
import { rankProducts } from '../src/ranking.ts'

const SEED = { products: 20, reviews: 1_000 }

let database: Database

beforeAll(async () => {
  database = await openDatabase({ seed: SEED })
}, 60_000)
afterAll(() => database?.close())

test('a schema that exists is neither filled nor dropped: it may belong to a run under way', async () => {
  const pool = openPool(database.url, 1)
  await expect(openDatabase({ seed: SEED, url: database.url })).rejects.toThrow('already has a schema cattlegrid_demo')
  const products = await pool.query('select 1 from cattlegrid_demo.products')
  expect(products.rowCount).toBe(20)
  await pool.end()
})

test('many connections with statements of their own do not get in each other’s way', async () => {
  const pool = openPool(database.url, 20)
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      const found =
        index % 2 === 0
          ? await pool.query<{ value: number }>('select $1::integer as value', [index])
          : await pool.query<{ value: number }>('select $2::integer as value, $1::text as text', ['text', index])
      return found.rows[0]?.value
    }),
  )
  expect(answers).toEqual(Array.from({ length: 200 }, (_, index) => index))
  await pool.end()
})

test('the database counts every load, however many come at once', async () => {
  const pool = openPool(database.url, 12)
  await rankProducts(pool, 'strict')
  await rankProducts(pool, 'strict')
  expect(await readLoads(pool, 'strict', 1_000)).toMatchObject({ total: 2, mostAtOnce: 1 })

  await Promise.all(Array.from({ length: 12 }, () => rankProducts(pool, 'unprotected')))
  expect(await readLoads(pool, 'unprotected', 1_000)).toMatchObject({ total: 12 })
  await loadsDone(pool, 1_000)
  await pool.end()
})

test('loads that overlap are there at once, loads that only touch are not', async () => {
  const pool = openPool(database.url, 1)
  const at = (second: number): string => `timestamptz '2026-01-01 00:00:00Z' + interval '${second} s'`
  const spans = [
    [0, 3],
    [1, 4],
    [2, 3],
    [3, 5],
    [9, 10],
  ] as const
  const rows = spans.map(([from, to]) => `('ranking', ${at(from)}, ${at(to)})`)
  await pool.query(`insert into cattlegrid_demo.loads (route, began_at, ended_at) values ${rows.join(', ')}`)
  expect(await readLoads(pool, 'ranking', 2_000)).toEqual({ total: 5, mostAtOnce: 3, periods: 3 })
  await pool.end()
})

test('a load that is still open is waited for', async () => {
  const pool = openPool(database.url, 1)
  await pool.query("insert into cattlegrid_demo.loads (route) values ('ranking')")
  await expect(loadsDone(pool, 300)).rejects.toThrow('did not finish')
  await pool.end()
})
