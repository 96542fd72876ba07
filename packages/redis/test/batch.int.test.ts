import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Cache, createCache } from '@cattlegrid/core'
import { openRedis, type RedisUnderTest } from './redis.ts'

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
