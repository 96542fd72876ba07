import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Cache, createCache, raw } from '@cattlegrid/core'
import { openRedis, type RedisUnderTest } from './redis.ts'

const SIZE = 100_000
const keys = Array.from({ length: 1000 }, (_, index) => `large ${index}`)

let redis: RedisUnderTest
let cache: Cache
const away: string[] = []

beforeAll(async () => {
  redis = await openRedis()
  cache = createCache({ store: await redis.open(), ttl: '10m', codec: raw, outage: false })
  cache.on('away', ({ key }) => void away.push(key))
  for (const key of keys) await cache.set(key, Buffer.alloc(SIZE, key))
})
afterAll(async () => {
  await cache.close()
  await redis.stop()
})

function whole(values: ReadonlyMap<string, Uint8Array>): number {
  return keys.filter((key) => values.get(key)?.length === SIZE).length
}

test('getMany returns 1,000 values of 100 KB, which take longer than one storeTimeout', async () => {
  expect([whole(await cache.getMany(keys)), away]).toEqual([keys.length, []])
})

test('getOrSetMany returns them without a load', async () => {
  const loaded: string[] = []
  const values = await cache.getOrSetMany<Uint8Array>(keys, (missing) => {
    loaded.push(...missing)
    return new Map()
  })
  expect([whole(values), loaded, away]).toEqual([keys.length, [], []])
})
