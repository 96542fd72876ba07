import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Cache, createCache } from '@cattlegrid/core'
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

describe('deleteMany', () => {
  it('deletes 200 keys', async () => {
    const keys = Array.from({ length: 200 }, (_, index) => `gone:${index}`)
    await Promise.all(keys.map((key) => cache.set(key, 'value')))
    expect((await cache.getMany(keys)).size).toBe(200)
    await cache.deleteMany(keys)
    expect(await cache.getMany(keys)).toEqual(new Map())
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
