import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Cache, createCache } from '@cattlegrid/core'
import { openRedis, type RedisUnderTest } from './redis.ts'

const SIZE = 50_000
const keys = Array.from({ length: SIZE }, (_, index) => `cold ${index}`)

let redis: RedisUnderTest
let cache: Cache

beforeAll(async () => {
  redis = await openRedis()
  cache = createCache({ store: await redis.open(), ttl: '10m' })
})
afterAll(async () => {
  await cache.close()
  await redis.stop()
})

/** Together, their acquires and commits take longer than a lease lasts, and their renewals would be in the way of both. */
test('getOrSetMany stores 50,000 cold keys with the default options, 5,000 of them with each call of its loader', async () => {
  const refused: string[] = []
  cache.on('refused', ({ key, why }) => void refused.push(`${key}: ${why}`))
  cache.on('away', ({ key, step }) => void refused.push(`${key}: ${step} away`))
  const calls: number[] = []
  const values = await cache.getOrSetMany(keys, (missing) => {
    calls.push(missing.length)
    return new Map(missing.map((key) => [key, key]))
  })
  expect([values.size, calls]).toEqual([SIZE, Array.from({ length: 10 }, () => 5000)])
  // The last commits are under way when the values are there.
  await cache.close()
  expect(refused).toEqual([])
  expect(await redis.client.exists(keys.map((key) => `${redis.namespace}:{${key}}`))).toBe(SIZE)
}, 300_000)
