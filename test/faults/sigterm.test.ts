import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { startRedis } from '@cattlegrid/testkit'
import { createClient } from 'redis'
import { until } from '../support/until.ts'
import { type Origin, startOrigin } from '../fleet/origin.ts'
import { type Framework, FRAMEWORKS, Recipes, ShopProcess } from './sigterm-process.ts'

const url = process.env['CATTLEGRID_TEST_REDIS_URL'] ?? ''
const recipes = new Recipes()
const redis = createClient({ url }).on('error', () => {})
let origin: Origin
let namespace: string
let started: ShopProcess[]

beforeEach(async () => {
  if (!redis.isOpen) await redis.connect()
  origin = await startOrigin()
  namespace = `sigterm-${randomUUID()}`
  started = []
})
afterEach(async () => {
  await Promise.all(started.map((shop) => shop.kill()))
  await origin.close()
})
afterAll(() => {
  redis.destroy()
  recipes.remove()
})

const leases = (): Promise<string[]> => redis.keys(`${namespace}:{*}:l`)
const entries = (): Promise<string[]> => redis.keys(`${namespace}:{*}`)

/** Longer than any test: a lease that is free before its end was given back. */
const LEASE = '10m'

async function startShop(framework: Framework, more: Readonly<Record<string, string>> = {}): Promise<ShopProcess> {
  const env = { SHOP_REDIS: url, SHOP_NAMESPACE: namespace, SHOP_ORIGIN: origin.url, SHOP_LEASE: LEASE, ...more }
  const shop = await ShopProcess.start(recipes.file(framework), env)
  started.push(shop)
  return shop
}

describe('the shutdown recipes of docs/operations.md', () => {
  it('compile', async () => {
    expect(await recipes.compile()).toBe('')
  })

  it('end a process all the same while Redis is frozen and an answer does not come', async () => {
    const frozen = await startRedis({ own: true })
    try {
      const shop = await startShop('express', { SHOP_REDIS: frozen.url, SHOP_STORE_TIMEOUT: '250ms' })
      origin.hold('/hung')
      const asked = shop.ask('/behind/hung').catch(String)
      await until(() => origin.count('/hung') === 1)
      frozen.pause()
      expect(await shop.terminate()).toBe(0)
      expect(await asked).toContain('fetch failed')
    } finally {
      await frozen.stop()
    }
  }, 90_000)
})

describe.each(FRAMEWORKS)('a process on %s that runs its recipe and gets a SIGTERM', (framework) => {
  const start = (): Promise<ShopProcess> => startShop(framework)
  /** Leaves a refresh running that nobody waits for. Returns how to let its load end. */
  const refreshBehind = async (shop: ShopProcess, name: string): Promise<() => void> => {
    expect(await shop.ask(`/behind/${name}`)).toBe(`/${name} load 1`)
    await until(async () => (await leases()).length === 0)
    const letGo = origin.hold(`/${name}`)
    await until(async () => {
      expect(await shop.ask(`/behind/${name}`)).toBe(`/${name} load 1`)
      return origin.count(`/${name}`) === 2
    })
    return letGo
  }

  it('answers what it was asked, commits what it loads, gives its leases back and exits with 0', async () => {
    const shop = await start()
    const letRefreshEnd = await refreshBehind(shop, 'behind')
    const source = `/${framework}-asked`
    const letAnswer = origin.hold(source)
    const asked = shop.ask('/value/asked')
    await until(() => origin.count(source) === 1)
    expect(await leases()).toHaveLength(2)

    const ended = shop.terminate()
    await until(async () => !(await shop.listens()))
    letAnswer()
    expect(await asked).toBe(`${source} load 1`)
    // By now nothing but the drain keeps the process.
    await new Promise((resolve) => setTimeout(resolve, 1000))
    letRefreshEnd()
    expect(await ended).toBe(0)
    expect(await leases()).toEqual([])
    expect((await entries()).filter((key) => !key.endsWith(':{%tags}'))).toHaveLength(2)

    const next = await start()
    expect(await next.ask('/value/asked')).toBe(`${source} load 1`)
    expect(await next.ask('/behind/behind')).toBe('/behind load 2')
    expect(origin.count(source)).toBe(1)
  }, 90_000)

  it('cuts off what does not end in the drain, and gives that lease back too', async () => {
    const shop = await start()
    await refreshBehind(shop, 'hung')
    const [held = ''] = await leases()
    expect(await redis.pTTL(held)).toBeGreaterThan(8 * 60_000)
    expect(await shop.terminate()).toBe(0)
    expect(await leases()).toEqual([])
  }, 90_000)
})
