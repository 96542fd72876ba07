import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import type { Store } from '@cattlegrid/core'
import { lead, LONG } from '../../../../test/support/entries.ts'
import { openRedis, type RedisUnderTest } from '../../../../test/support/redis-under-test.ts'

let redis: RedisUnderTest
let store: Store

beforeEach(async () => {
  redis = await openRedis()
  store = await redis.open()
})
afterEach(() => redis.stop())

describe('leases that are renewed together', () => {
  test('take a few scripts, and each gets its own answer', async () => {
    const leases = await Promise.all(Array.from({ length: 600 }, (_, at) => lead(store, `k${at}`)))
    await store.invalidate('k1', 'delete', 0)
    const calls = async (): Promise<number> => {
      const info = await redis.client.info('commandstats')
      return Number(/cmdstat_evalsha:calls=(\d+)/.exec(info)?.[1] ?? 0)
    }
    const before = await calls()
    const answers = await Promise.all(leases.map((lease) => store.renew(lease, LONG)))
    expect((await calls()) - before).toBeLessThan(10)
    expect(answers.map(({ kind }) => kind)).toEqual(leases.map((_, at) => (at === 1 ? 'refused' : 'renewed')))
  })
})
