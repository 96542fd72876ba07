import { monitorEventLoopDelay } from 'node:perf_hooks'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createCache } from '@cattlegrid/core'
import { openRedis, type RedisUnderTest } from '../../../../test/support/redis-under-test.ts'

const SIZE = 50_000
let redis: RedisUnderTest

beforeAll(async () => {
  redis = await openRedis()
})
afterAll(() => redis.stop())

/** What one cold batch came to. A process that stands still for most of a lease's length renews none: such a batch says nothing of the renewals. */
interface Outcome {
  readonly stoodStill: boolean
  readonly refused: readonly string[]
  readonly missing: number
}

async function loadCold(attempt: number): Promise<Outcome> {
  const loop = monitorEventLoopDelay()
  loop.enable()
  const cache = createCache({ store: await redis.open(), ttl: '10m' })
  const refused: string[] = []
  const reported = new Set<string>()
  cache.on('refused', ({ key, why }) => void refused.push(`${key}: ${why}`))
  cache.on('away', ({ key }) => void reported.add(key))
  // It reports itself, once for all keys.
  let opened = false
  cache.on('breaker', ({ state }) => (opened ||= state === 'open'))
  const keys = Array.from({ length: SIZE }, (_, index) => `cold ${attempt} ${index}`)
  const calls: number[] = []
  const values = await cache.getOrSetMany(keys, (missing) => {
    calls.push(missing.length)
    return new Map(missing.map((key) => [key, key]))
  })
  expect(values.size).toBe(SIZE)
  expect(Math.max(...calls)).toBe(2000)
  // The last commits are under way when the values are there.
  await cache.close()
  const stored = await redis.client.exists(keys.map((key) => `${redis.namespace}:{${key}}`))
  return { stoodStill: loop.max > 1e9 || opened, refused, missing: Math.max(0, SIZE - stored - reported.size) }
}

/** Together, their acquires and commits take longer than a lease lasts, and their renewals would be in the way of both. */
test('getOrSetMany stores 50,000 cold keys with the default options, 2,000 of them with each call of its loader', async () => {
  let outcome = await loadCold(1)
  for (let attempt = 2; outcome.stoodStill && attempt <= 5; attempt += 1) outcome = await loadCold(attempt)
  expect(outcome).toEqual({ stoodStill: false, refused: [], missing: 0 })
}, 300_000)
