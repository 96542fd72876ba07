import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { startRedis, type RedisServer } from '@cattlegrid/testkit'
import type { Pool } from 'pg'
import { openDatabase, openPool, type Database } from '../src/database.ts'
import { originsOf, startFleet, type Fleet } from '../src/demo/fleet.ts'
import { loadsDone, readLoads } from '../src/demo/loads.ts'
import { driveTraffic, type Traffic } from '../src/demo/traffic.ts'
import { until } from '../../../test/support/until.ts'

/** The ttl of the route. */
const TTL_MS = 1_000
const EXPIRIES = 4
const PROCESSES = 3
const CONNECTIONS = 15

const stops: (() => Promise<void>)[] = []
let database: Database
let redis: RedisServer
let pool: Pool
let fleet: Fleet

beforeAll(async () => {
  database = await openDatabase({ seed: { products: 50, reviews: 20_000 }, onStarted: (close) => stops.push(close) })
  redis = await startRedis({ own: true })
  stops.push(redis.stop)
  pool = openPool(database.url, 2)
  stops.push(() => pool.end())
  const onSpawn = (stop: () => Promise<void>): void => void stops.push(stop)
  fleet = await startFleet({ app: 'express', size: PROCESSES, databaseUrl: database.url, redisUrl: redis.url, onSpawn })
})

// The processes first, which use the others.
afterAll(async () => {
  for (const stop of stops.toReversed()) await stop()
})

/** The sum of a metric over all processes, as `sum(…)` in PromQL; `labels` as they stand in the text. */
async function sum(name: string, labels = ''): Promise<number> {
  let total = 0
  for (const origin of originsOf(fleet)) {
    const text = await (await fetch(`${origin}/metrics`)).text()
    for (const line of text.split('\n'))
      if (line.startsWith(`${name}{`) && line.includes(labels)) total += Number(line.slice(line.lastIndexOf(' ')))
  }
  return total
}

/** Traffic at all processes until the database has seen the entry expire often enough. */
async function drive(): Promise<Traffic> {
  const expired = async (): Promise<boolean> =>
    (await readLoads(pool, 'strict', ['express'], TTL_MS)).expiries > EXPIRIES
  const origins = originsOf(fleet)
  return await driveTraffic({
    origins,
    path: '/strict/ranking',
    connectionsEach: CONNECTIONS / PROCESSES,
    until: until(expired),
    onStart: () => {},
  })
}

test('the metrics of all processes tell the loads per expiry as the database counts them', async () => {
  const traffic = await drive()
  await loadsDone(pool)
  const counted = await readLoads(pool, 'strict', ['express'], TTL_MS)
  expect(traffic.errors).toBe(0)
  expect(counted.expiries).toBeGreaterThan(EXPIRIES)

  const loads = await sum('cattlegrid_loads_total')
  const committed = await sum('cattlegrid_load_seconds_count', 'outcome="committed"')
  expect({ loads, perExpiry: loads / committed }).toEqual({
    loads: counted.total,
    perExpiry: counted.total / counted.expiries,
  })
  // Each other request got the value of one of these loads; each connection had one more under way at the end.
  const loadsWithoutCache = loads + (await sum('cattlegrid_avoided_loads_total'))
  expect(loadsWithoutCache).toBeGreaterThanOrEqual(traffic.requests)
  expect(loadsWithoutCache).toBeLessThanOrEqual(traffic.requests + CONNECTIONS)
})

test('the dashboard computes them from the same two metrics', () => {
  const dashboard = readFileSync('packages/metrics/grafana/dashboard.json', 'utf8')
  const { panels } = JSON.parse(dashboard) as { panels: { title: string; targets?: { expr: string }[] }[] }
  const expr = panels.find(({ title }) => title === 'Loads per expiry')?.targets?.[0]?.expr ?? ''
  const asked = expr.matchAll(/(cattlegrid_\w+)\{[^}]*?(outcome="\w+")?\}/g)
  expect(Array.from(asked, ([, name, labels]) => [name, labels])).toEqual([
    ['cattlegrid_loads_total', undefined],
    ['cattlegrid_load_seconds_count', 'outcome="committed"'],
  ])
})
