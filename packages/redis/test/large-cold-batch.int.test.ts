import { monitorEventLoopDelay } from 'node:perf_hooks'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Cache, createCache } from '@cattlegrid/core'
import { openRedis, type RedisUnderTest } from './redis.ts'

const SIZE = 50_000
const keys = Array.from({ length: SIZE }, (_, index) => `cold ${index}`)

let redis: RedisUnderTest
let cache: Cache
/** The keys that the cache reported: none, unless the machine itself stands still for a `storeTimeout`. */
const away = new Set<string>()
/** The breaker was open: it reports itself, once for all keys. */
let opened = false

beforeAll(async () => {
  redis = await openRedis()
  cache = createCache({ store: await redis.open(), ttl: '10m' })
  cache.on('away', ({ key }) => void away.add(key))
  cache.on('breaker', ({ state }) => (opened ||= state === 'open'))
})
afterAll(async () => {
  await cache.close()
  await redis.stop()
})

/** Together, their acquires and commits take longer than a lease lasts, and their renewals would be in the way of both. */
test('getOrSetMany stores 50,000 cold keys with the default options, 2,000 of them with each call of its loader', async () => {
  const loop = monitorEventLoopDelay()
  loop.enable()
  const refused: string[] = []
  cache.on('refused', ({ key, why }) => void refused.push(`${key}: ${why}`))
  const calls: number[] = []
  const values = await cache.getOrSetMany(keys, (missing) => {
    calls.push(missing.length)
    return new Map(missing.map((key) => [key, key]))
  })
  expect(values.size).toBe(SIZE)
  expect(Math.max(...calls)).toBe(2000)
  // The last commits are under way when the values are there.
  await cache.close()
  // A process that stands still for most of a lease's length renews none.
  const stoodStill = loop.max > 1e9
  expect(stoodStill ? [] : refused).toEqual([])
  const stored = await redis.client.exists(keys.map((key) => `${redis.namespace}:{${key}}`))
  expect(opened || stoodStill || stored + away.size >= SIZE).toBe(true)
}, 300_000)
