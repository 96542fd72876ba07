import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createCache, raw, structured } from '@cattlegrid/core'
import { openRedis, type RedisUnderTest } from '../../../../test/support/redis-under-test.ts'

let redis: RedisUnderTest

beforeAll(async () => {
  redis = await openRedis()
})
afterAll(() => redis.stop())

test('calls that join one read get a value each', async () => {
  const cache = createCache({ store: await redis.open(), ttl: '1m', outage: false })
  await cache.set('user', { roles: ['reader'] })
  const [first, second] = await Promise.all([1, 2].map(() => cache.get<{ roles: string[] }>('user')))
  first?.roles.push('admin')
  expect(second?.roles).toEqual(['reader'])
  await cache.close()
})

test('the buffer of a hit holds nothing of other replies', async () => {
  const cache = createCache({ store: await redis.open(), ttl: '1m', near: {} })
  const keys = Array.from({ length: 50 }, (_, index) => `bytes ${index}`)
  await Promise.all(keys.map((key) => cache.set<Uint8Array>(key, Buffer.alloc(1024, key), { codec: raw })))
  const read = await cache.getMany<Uint8Array>(keys, { codec: raw })
  const near = await cache.getMany<Uint8Array>(keys, { codec: raw })
  const sizes = [...read.values(), ...near.values()].map(({ buffer }) => buffer.byteLength)
  expect([sizes.length, new Set(sizes)]).toEqual([100, new Set([1024])])

  await cache.set('inside', { bytes: Buffer.from('own') }, { codec: structured })
  const inside = await cache.get<{ bytes: Buffer }>('inside', { codec: structured })
  expect(String(inside?.bytes)).toBe('own')
  expect(inside?.bytes.buffer.byteLength).toBe(structured.encode({ bytes: Buffer.from('own') }).length)
  await cache.close()
})
