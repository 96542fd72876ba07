import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { startRedis, type RedisServer } from '@cattlegrid/testkit'
import type { Pool } from 'pg'
import request from 'supertest'
import { startApi, type Api, type Framework } from '../src/api.ts'
import { startChild, type Child } from '../src/child.ts'
import { openDatabase, openPool, type Database } from '../src/database.ts'
import type { RankingRoute } from '../src/ranking.ts'

const SEED = { products: 50, reviews: 2_000 }

let database: Database
let redis: RedisServer
let pool: Pool

beforeAll(async () => {
  database = await openDatabase({ seed: SEED })
  redis = await startRedis({ own: true })
  pool = openPool(database.url, 2)
})

afterAll(async () => {
  await pool?.end()
  await redis?.stop()
  await database?.close()
})

function open(framework: Framework, namespace: string): Promise<Api> {
  return startApi({ framework, databaseUrl: database.url, redisUrl: redis.url, namespace })
}

async function countLoads(app: Framework, route: RankingRoute): Promise<number> {
  const found = await pool.query<{ loads: number }>(
    'select count(*)::integer as loads from cattlegrid_demo.loads where app = $1 and route = $2',
    [app, route],
  )
  return found.rows[0]?.loads ?? 0
}

describe.each(['express', 'fastify'] as const)('the API on %s', (framework) => {
  let api: Api

  beforeAll(async () => {
    api = await open(framework, `routes-${framework}`)
  })
  afterAll(() => api?.close())

  test('lists products page by page', async () => {
    const first = await request(api.url).get('/products').expect(200)
    expect(first.body).toMatchObject({ page: 1, products: { length: 20, 0: { id: 1 } } })
    const third = await request(api.url).get('/products?page=3').expect(200)
    expect(third.body).toMatchObject({ page: 3, products: { length: 10, 0: { id: 41 } } })
  })

  test('shows one product', async () => {
    const answer = await request(api.url).get('/products/7').expect(200).expect('content-type', /json/)
    expect(answer.body).toEqual({
      id: 7,
      name: 'Oak stool no. 7',
      category: 'kitchen',
      priceCents: 500 + ((7 * 7919) % 20_000),
    })
  })

  test.each(['/products/51', '/products/0', '/products/abc', '/nowhere'])(
    'answers %s with 404 and JSON',
    async (path) => {
      const answer = await request(api.url).get(path).expect(404)
      expect(answer.body).toEqual({ error: expect.stringMatching(/^there is no /) })
    },
  )

  test('a product that does not exist is still answered at once the second time: it is no failure', async () => {
    await request(api.url).get('/products/999').expect(404)
    await request(api.url).get('/products/999').expect(404)
  })

  test('refuses a page that is none with 400', async () => {
    const answer = await request(api.url).get('/products?page=0').expect(400)
    expect(answer.body).toEqual({ error: 'page must be a whole number from 1 to 1000000' })
  })

  test.each(['{ broken', '[]', '{"priceCents":"5"}', '{"priceCents":-1}', '{}'])(
    'refuses the change %s with 400',
    async (body) => {
      const answer = await request(api.url).patch('/products/8').type('json').send(body).expect(400)
      expect(answer.body).toEqual({ error: expect.any(String) })
    },
  )

  test('a change of a product that does not exist is 404', async () => {
    await request(api.url).patch('/products/999').send({ priceCents: 100 }).expect(404)
  })

  test('ranks ten products', async () => {
    const answer = await request(api.url).get('/ranking').expect(200)
    const { ranking } = answer.body as { ranking: { place: number; rating: number }[] }
    expect(ranking.map((product) => product.place)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    const ratings = ranking.map((product) => product.rating)
    expect(ratings).toEqual(ratings.toSorted((a, b) => b - a))
  })

  test('the database ranks once for twenty callers of the protected route, twenty times for the unprotected one', async () => {
    const strict = await countLoads(framework, 'strict')
    const unprotected = await countLoads(framework, 'unprotected')
    const twenty = Array.from({ length: 20 })
    await Promise.all(twenty.map(() => request(api.url).get('/strict/ranking').set('host', 'shop').expect(200)))
    await Promise.all(twenty.map(() => request(api.url).get('/unprotected/ranking').expect(200)))
    expect({
      strict: (await countLoads(framework, 'strict')) - strict,
      unprotected: (await countLoads(framework, 'unprotected')) - unprotected,
    }).toEqual({ strict: 1, unprotected: 20 })
  })
})

describe.each([
  { here: 'express', there: 'fastify' },
  { here: 'fastify', there: 'express' },
] as const)('an update on $here while $there serves from its cache in another process', ({ here, there }) => {
  const namespace = `update-${here}`
  let api: Api
  let other: Child

  beforeAll(async () => {
    api = await open(here, namespace)
    const env = { DATABASE_URL: database.url, REDIS_URL: redis.url, NAMESPACE: namespace }
    other = await startChild('./api-process.ts', { args: [there], env })
  })
  afterAll(async () => {
    await other?.stop()
    await api?.close()
  })

  const priceAt = async (url: string): Promise<number> => {
    const answer = await request(url).get('/products/3').expect(200)
    return (answer.body as { priceCents: number }).priceCents
  }

  test('shows the new price at the next request, in both', async () => {
    const before = await priceAt(other.url)
    // Past the API: both processes must still serve the cached price, or this test would prove nothing.
    await pool.query('update cattlegrid_demo.products set price_cents = price_cents + 7 where id = 3')
    expect([await priceAt(other.url), await priceAt(api.url)]).toEqual([before, before])

    const priceCents = before + 1_000
    const answer = await request(api.url).patch('/products/3').send({ priceCents }).expect(200)
    expect(answer.body).toMatchObject({ id: 3, priceCents })
    expect([await priceAt(other.url), await priceAt(api.url)]).toEqual([priceCents, priceCents])
  })
})
