import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Cache, createCache, json } from '@cattlegrid/core'
import { openRedis, type RedisUnderTest } from '../../../../test/support/redis-under-test.ts'

let redis: RedisUnderTest
let cache: Cache

beforeAll(async () => {
  redis = await openRedis()
  cache = createCache({ store: await redis.open(), ttl: '1m', storeTimeout: '10s' })
})

afterAll(async () => {
  await cache.close()
  await redis.stop()
})

async function loaderCalls(keys: readonly string[]): Promise<number[]> {
  const sizes: number[] = []
  await cache.getOrSetMany(
    keys,
    (missing) => {
      sizes.push(missing.length)
      return new Map(missing.map((key) => [key, key]))
    },
    { tags: ['all'] },
  )
  return sizes
}

describe('getOrSetMany', () => {
  it.each([3, 2000])(
    'loads %d cold keys with one loader call, and so it does after their tag was invalidated',
    async (size) => {
      const keys = Array.from({ length: size }, (_, index) => `${size}:${index}`)
      expect(await loaderCalls(keys)).toEqual([size])
      expect(await loaderCalls(keys)).toEqual([])
      await cache.invalidateTags(['all'])
      expect(await loaderCalls(keys)).toEqual([size])
    },
  )
})

describe('has', () => {
  it('decodes nothing, and sees what deleteMany deletes', async () => {
    let decoded = 0
    const decode = <T>(bytes: Buffer): T => {
      decoded += 1
      return json.decode<T>(bytes)
    }
    const counting = cache.with({ codec: { ...json, id: 20, decode } })
    const keys = Array.from({ length: 200 }, (_, index) => `has:${index}`)
    await Promise.all(keys.map((key) => counting.set(key, 'value')))
    expect(await Promise.all(keys.map((key) => counting.has(key)))).toEqual(keys.map(() => true))
    expect([decoded, await cache.has('has:0'), await counting.get('has:0')]).toEqual([0, false, 'value'])
    await counting.deleteMany(keys)
    expect(await Promise.all(keys.map((key) => counting.has(key)))).toEqual(keys.map(() => false))
  })
})

describe('an entry with ttl: Infinity', () => {
  it('is fresh in Redis, stale once it is expired, and gone once it is deleted', async () => {
    await cache.set('endless', 'value', { ttl: Infinity, staleIfError: '40d' })
    const { freshFor = 0 } = (await cache.read('endless')) ?? {}
    expect(freshFor).toBeGreaterThan(4000 * 365 * 86_400_000)
    await cache.expire('endless')
    expect(await cache.read('endless')).toMatchObject({ value: 'value', state: 'stale' })
    await cache.delete('endless')
    expect(await cache.read('endless')).toBeUndefined()
  })
})
