import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type Cache, createCache } from '@cattlegrid/core'
import { openRedis, type RedisUnderTest } from '../../../../test/support/redis-under-test.ts'

let redis: RedisUnderTest
let cache: Cache

beforeEach(async () => {
  redis = await openRedis()
  cache = createCache({ store: await redis.open(), ttl: '1m', storeTimeout: '20s', maxEntryBytes: '1kb' })
})
afterEach(async () => {
  await cache.close()
  await redis.stop()
})

describe('a value that is larger, encoded, than maxEntryBytes', () => {
  const large = 'x'.repeat(1100)

  test('is given to its callers, reported, and not stored', async () => {
    const reported: string[] = []
    cache.on('too-large', ({ key }) => void reported.push(key))
    expect(await cache.lookup('k', () => large)).toMatchObject({ value: large, outcome: { kind: 'uncacheable' } })
    expect([await cache.get('k'), reported]).toEqual([undefined, ['k']])
  })

  test('is not set, and the old entry stays', async () => {
    await cache.set('k', 'small')
    await expect(cache.set('k', large)).rejects.toThrow(/at most \d+ are stored/)
    expect(await cache.get('k')).toBe('small')
  })
})
