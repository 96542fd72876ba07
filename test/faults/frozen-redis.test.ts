import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { createCache, isCattlegridError } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { ask, type Door, values } from '../fleet/fleet.ts'
import { until } from '../support/until.ts'
import { OwnRedis } from './own-redis.ts'

describe('a Redis that is stopped and answers nothing', () => {
  let own: OwnRedis

  beforeEach(async () => {
    own = await OwnRedis.start({ size: 2, storeTimeout: '1s' })
  }, 60_000)
  afterEach(() => own.stop())

  it.each<Door>(['lookup', 'claim'])(
    'hangs nobody: each process loads once for all of its callers, and goes on with Redis when it is back (%s)',
    async (door) => {
      const { fleet, server } = own
      await ask(fleet.member(0), 'warm', 1)
      server.pause()
      expect(values(await fleet.everybody('cold', 50, { door }))).toEqual(new Set(['/cold load 1', '/cold load 2']))
      expect(values(await fleet.everybody('warm', 50, { door })).size).toBeGreaterThan(0)
      server.resume()
      await fleet.recovered()
      expect(await fleet.member(1).tell({ do: 'get', key: 'warm' })).toBe('/warm load 1')
      expect(values(await fleet.everybody('cold', 50, { door }))).toEqual(new Set(['/cold load 3']))
    },
  )

  it.each<Door>(['lookup', 'claim'])('in the middle of a wait, leaves no follower waiting (%s)', async (door) => {
    const { fleet, server } = own
    const options = { door, lease: { duration: '1h', maxHold: '2h' } } as const
    const letGo = fleet.origin.hold('/k')
    const leading = ask(fleet.member(0), 'k', 10, options)
    await until(() => fleet.loads('k') === 1)
    const following = ask(fleet.member(1), 'k', 10, options)
    await until(async () => (await fleet.redis.getRange(fleet.leaseKey('k'), 23, 23)) === '+')
    server.pause()
    await until(() => fleet.loads('k') === 2)
    letGo()
    expect(values([...(await leading), ...(await following)])).toEqual(new Set(['/k load 1', '/k load 2']))
  })

  it('makes an invalidation say that nobody knows whether it was executed, and lets the cache be closed', async () => {
    const cache = createCache({ store: redisStore({ url: own.server.url, namespace: 'frozen' }), ttl: '1h' })
    try {
      await cache.ready({ timeout: '30s' })
      own.server.pause()
      const error = await cache.delete('k').catch((thrown: unknown) => thrown)
      expect(isCattlegridError(error, 'CATTLEGRID_STORE_AWAY')).toBe(true)
      expect(error).toMatchObject({ maybeApplied: true })
      const running = cache.getOrSet('k', () => new Promise(() => {})).catch((thrown: unknown) => thrown)
      await cache.close({ drain: 0 })
      expect(await running).toMatchObject({ code: 'CATTLEGRID_CLOSED' })
    } finally {
      await cache.close({ drain: 0 })
    }
  })
})
