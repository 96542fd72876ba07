import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { type Cache, createCache, raw } from '@cattlegrid/core'
import { openRedis, type RedisUnderTest } from '../../../../test/support/redis-under-test.ts'

const SIZE = 100_000
const keys = Array.from({ length: 1000 }, (_, index) => `large ${index}`)

let redis: RedisUnderTest
let cache: Cache
const away: string[] = []
let isOpen = false
/** The breaker was open at some time of the test. */
let opened = false

beforeAll(async () => {
  redis = await openRedis()
  cache = createCache({ store: await redis.open(), ttl: '10m', codec: raw, outage: false })
  cache.on('away', ({ key }) => void away.push(key))
  cache.on('breaker', ({ state }) => {
    isOpen = state === 'open'
    opened ||= isOpen
  })
  for (const key of keys) await cache.set(key, Buffer.alloc(SIZE, key))
})
afterAll(async () => {
  await cache.close()
  await redis.stop()
})

/** The keys without a whole value, and those that the cache reported: none, unless the machine itself stands still for a `storeTimeout`. */
function lostOf(values: ReadonlyMap<string, Uint8Array>): {
  readonly lost: readonly string[]
  readonly reported: readonly string[]
} {
  const lost = keys.filter((key) => values.get(key)?.length !== SIZE)
  // An open breaker reports itself, once for all, perhaps in the test before.
  return { lost, reported: opened ? lost : keys.filter((key) => away.includes(key)) }
}

beforeEach(() => {
  away.length = 0
  opened = isOpen
})

test('getMany returns 1,000 values of 100 KB, which take longer than one storeTimeout, and reports each that it lacks', async () => {
  const { lost, reported } = lostOf(await cache.getMany(keys))
  expect(lost).toEqual(reported)
})

test('getOrSetMany returns them, and loads none but those that it reports', async () => {
  const loaded: string[] = []
  const values = await cache.getOrSetMany<Uint8Array>(keys, (missing) => {
    loaded.push(...missing)
    return new Map()
  })
  const { lost, reported } = lostOf(values)
  expect(lost).toEqual(reported)
  expect(loaded.toSorted()).toEqual(lost.toSorted())
})
