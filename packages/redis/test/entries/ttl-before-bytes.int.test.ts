import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { redisStore } from '@cattlegrid/redis'
import { found, LONG, put } from '../../../../test/support/entries.ts'
import { openRedis, type RedisUnderTest } from '../../../../test/support/redis-under-test.ts'
import { tap } from '../support/tap.ts'

let redis: RedisUnderTest

beforeEach(async () => {
  redis = await openRedis()
})
afterEach(() => redis.stop())

describe('a read during which another process writes an entry with a similar time to live', () => {
  test('never gives the old body the time to live of the new entry', async () => {
    const other = await redis.open()
    await put(other, 'k', 'old', { ttl: 30_000, staleWhileRevalidate: LONG })
    await redis.client.pExpire(`${redis.namespace}:{k}`, LONG - 1000)
    const write = () => put(other, 'k', 'new', { ttl: LONG + 15_000 })
    let first: Promise<unknown> | undefined
    const client = tap(redis.client, (what, forward) => {
      if (what !== 'get' && what !== 'pttl') return forward()
      if (first !== undefined) return first.then(write).then(forward)
      first = forward()
      return first
    })
    const entry = await found(redisStore({ client, namespace: redis.namespace }), 'k')
    expect([entry.value, entry.freshUntil > performance.now()]).not.toEqual(['old', true])
  })
})
