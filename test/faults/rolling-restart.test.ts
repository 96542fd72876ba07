import { afterAll, describe, expect, it } from '@jest/globals'
import { createClient } from 'redis'
import { until } from '../support/until.ts'
import { startOrigin } from '../fleet/origin.ts'
import { Deployment, SlowSource, SteadyLoad } from './rolling-restart.ts'
import { Recipes } from './sigterm-process.ts'

const SIZE = 4
const PATHS = ['/value/a', '/value/b', '/fn/c', '/fn/d']
const SOURCES = ['/c', '/d', '/express-a', '/express-b', '/fastify-a', '/fastify-b']
const LOAD_TIME = 2000
const TTL = 1000
/** A clock that is read once a millisecond, and one that counts in whole ones. */
const CLOCKS = 5

const url = process.env['CATTLEGRID_TEST_REDIS_URL'] ?? ''
const recipes = new Recipes()
afterAll(() => recipes.remove())

describe('a rolling restart of four processes', () => {
  it('fails no request, and makes one load per key and expiry', async () => {
    const source = new SlowSource(LOAD_TIME)
    const env = { SHOP_REDIS: url, SHOP_ORIGIN: await source.start(), SHOP_TTL: `${TTL}ms` }
    const deployment = new Deployment(recipes, env)
    try {
      await deployment.start(SIZE)
      const load = new SteadyLoad(deployment, PATHS, 16)
      const ends: (number | string)[] = []
      for (let place = 0; place < SIZE; place += 1) ends.push(await deployment.replace(place))
      // How many loads a key has had until here depends on the machine; a key that was blocked for good has no third one.
      await until(() => SOURCES.every((key) => (source.loads.get(key)?.length ?? 0) > 2))
      await load.stop()

      expect(load.failures).toEqual([])
      expect(load.answers).toBeGreaterThan(100)
      expect(deployment.answering).toBeGreaterThan(0)
      expect(ends).toEqual([0, 0, 0, 0])
      const loads = [...source.loads.values()]
      expect([...source.loads.keys()].toSorted()).toEqual(SOURCES)
      // A load that was lost, or a lease that was left behind, would be followed by another load too early, or by none.
      for (const begun of loads) {
        for (const [index, at] of begun.slice(1).entries())
          expect(at - (begun[index] ?? 0)).toBeGreaterThanOrEqual(TTL - CLOCKS)
      }
      const counts = loads.map((begun) => begun.length).join(' + ')
      process.stderr.write(
        `rolling restart: ${load.answers} answers, none failed, ${deployment.answering} of them due at a SIGTERM; loads by key: ${counts}\n`,
      )
    } finally {
      await deployment.stop()
      source.stop()
    }
  }, 180_000)

  it('lets the next leader begin long before the lease of the closed one would have ended', async () => {
    const redis = await createClient({ url })
      .on('error', () => {})
      .connect()
    const origin = await startOrigin()
    // No test lasts as long: who leads within it was let.
    const deployment = new Deployment(recipes, { SHOP_REDIS: url, SHOP_ORIGIN: origin.url, SHOP_LEASE: '10m' })
    try {
      await deployment.start(2)
      const [leader, follower] = [deployment.at(0), deployment.at(1)]
      expect(await leader.ask('/behind/k')).toBe('/k load 1')
      const letGo = origin.hold('/k')
      await until(async () => (await leader.ask('/behind/k')) === '/k load 1' && origin.count('/k') === 2)
      const lease = `${deployment.namespace}:{k}:l`
      const granted = await redis.get(lease)
      // It has no stale window: it can only wait.
      const following = Promise.all(Array.from({ length: 10 }, () => follower.ask('/fn/k')))
      await until(async () => (await redis.getRange(lease, 23, 23)) === '+')

      expect(await redis.pTTL(lease)).toBeGreaterThan(8 * 60_000)
      expect(await leader.terminate()).toBe(0)
      await until(() => origin.count('/k') === 3)
      expect(await redis.get(lease)).not.toBe(granted)
      letGo()
      expect(new Set(await following)).toEqual(new Set(['/k load 3']))
      expect(origin.count('/k')).toBe(3)
    } finally {
      await deployment.stop()
      await origin.close()
      redis.destroy()
    }
  }, 120_000)
})
