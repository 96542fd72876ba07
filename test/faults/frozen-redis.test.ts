import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { createCache, isCattlegridError } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { startRedis } from '@cattlegrid/testkit'
import { ask, type Door, type Fleet, values } from '../fleet/fleet.ts'
import { until } from '../support/until.ts'
import { OwnRedis, type Place, PLACES } from './own-redis.ts'

/** By both verbs, wherever the entries are. */
const WAYS = PLACES.flatMap((place) => (['lookup', 'claim'] as const).map((door) => [place, door] as const))

describe.each<readonly [Place, Door]>(WAYS)(
  '%s that is stopped and answers nothing, or a node of it (%s)',
  (place, door) => {
    let own: OwnRedis
    let fleet: Fleet

    beforeEach(async () => {
      own = await OwnRedis.startAt(place, { size: 2, storeTimeout: '1s' })
      fleet = own.fleet
    }, 60_000)
    afterEach(() => own.stop())

    it('hangs nobody: each process loads once for all of its callers, and goes on with Redis when it is back', async () => {
      const [warm, cold] = [await fleet.keyAt('warm'), await fleet.keyAt('cold')]
      await ask(fleet.member(0), warm, 1)
      own.server.pause()
      expect(values(await fleet.everybody(cold, 50, { door }))).toEqual(new Set([`/${cold} load 1`, `/${cold} load 2`]))
      expect(values(await fleet.everybody(warm, 50, { door })).size).toBeGreaterThan(0)
      own.server.resume()
      await fleet.recovered()
      expect(await fleet.member(1).tell({ do: 'get', key: warm })).toBe(`/${warm} load 1`)
      expect(values(await fleet.everybody(cold, 50, { door }))).toEqual(new Set([`/${cold} load 3`]))
    })

    it('in the middle of a wait, leaves no follower waiting', async () => {
      const key = await fleet.keyAt('k')
      const options = { door, lease: { duration: '1h', maxHold: '2h' } } as const
      const letGo = fleet.origin.hold(`/${key}`)
      const leading = ask(fleet.member(0), key, 10, options)
      await until(() => fleet.loads(key) === 1)
      const following = ask(fleet.member(1), key, 10, options)
      await until(async () => (await fleet.redis.getRange(fleet.leaseKey(key), 23, 23)) === '+')
      own.server.pause()
      await until(() => fleet.loads(key) === 2)
      letGo()
      expect(values([...(await leading), ...(await following)])).toEqual(new Set([`/${key} load 1`, `/${key} load 2`]))
    })
  },
)

describe('a Redis that is stopped and answers nothing', () => {
  it('makes an invalidation say that nobody knows whether it was executed, and lets the cache be closed', async () => {
    const server = await startRedis({ own: true })
    const cache = createCache({ store: redisStore({ url: server.url, namespace: 'frozen' }), ttl: '1h' })
    try {
      await cache.ready({ timeout: '30s' })
      server.pause()
      const error = await cache.delete('k').catch((thrown: unknown) => thrown)
      expect(isCattlegridError(error, 'CATTLEGRID_STORE_AWAY')).toBe(true)
      expect(error).toMatchObject({ maybeApplied: true })
      const running = cache.getOrSet('k', () => new Promise(() => {})).catch((thrown: unknown) => thrown)
      await cache.close({ drain: 0 })
      expect(await running).toMatchObject({ code: 'CATTLEGRID_CLOSED' })
    } finally {
      await cache.close({ drain: 0 })
      await server.stop()
    }
  })
})
