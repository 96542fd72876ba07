import { describe, expect, it } from '@jest/globals'
import { type CacheOptions, createCache } from '@cattlegrid/core'
import { createFleet, type Fleet, Origin, settle } from '../support/fleet.ts'
import { Remote } from '../support/remote.ts'

const tagged = { tags: ['t'], staleWhileRevalidate: '1h' } as const

interface Stage {
  readonly fleet: Fleet
  readonly origin: Origin
  /** Asks every cache for these keys: they are stale. */
  hit(...keys: readonly string[]): Promise<void>
}

/** Caches with stale entries at the keys `0` to `19`. */
async function staleFleet(options: CacheOptions): Promise<Stage> {
  const fleet = createFleet(options)
  const origin = new Origin()
  for (let key = 0; key < 20; key += 1) await fleet.caches[0].set(String(key), 'old', tagged)
  await fleet.caches[1].expireTags(['t'])
  const hit = async (...keys: readonly string[]): Promise<void> => {
    for (const key of keys)
      for (const cache of fleet.caches) expect(await cache.getOrSet(key, origin.loader, tagged)).toBe('old')
    await settle(fleet)
  }
  return { fleet, origin, hit }
}

const keys = Array.from({ length: 20 }, (_, key) => String(key))

describe('refreshBudget.perSecond', () => {
  it('paces the background refreshes of all processes; no hit waits, and every key is refreshed in the end', async () => {
    const { fleet, origin, hit } = await staleFleet({ refreshBudget: { perSecond: 5 } })
    const begun: number[] = []
    for (let second = 0; second < 4; second += 1) {
      for (let tick = 0; tick < 100; tick += 1) {
        await hit(...keys.filter((key) => !origin.loads.some(({ load }) => load.key === key)))
        await fleet.runtime.advance(10)
      }
      begun.push(origin.count - begun.reduce((sum, count) => sum + count, 0))
    }
    expect(Math.max(...begun)).toBeLessThanOrEqual(5)
    expect(origin.count).toBeGreaterThan(15)
  })

  it('neither delays nor counts a load for which a caller waits', async () => {
    const { fleet, origin, hit } = await staleFleet({ refreshBudget: { perSecond: 1 } })
    await hit('0', '1')
    expect(origin.count).toBe(1)
    let asked = 0
    fleet.store.permitRefresh = () => {
      asked += 1
      return Promise.resolve({ kind: 'exhausted', retryAfter: 1000 })
    }
    const strict = keys
      .slice(2)
      .map((key) => fleet.caches[0].getOrSet(key, origin.loader, { staleWhileRevalidate: false }))
    await settle(fleet)
    expect([asked, origin.count]).toEqual([0, 19])
    for (const { resolve } of origin.loads) resolve('new')
    expect(new Set(await Promise.all(strict))).toEqual(new Set(['new']))
  })

  it('counts a refresh that has ended', async () => {
    const { fleet, origin, hit } = await staleFleet({ refreshBudget: { perSecond: 1 } })
    await hit('0')
    origin.last.resolve('new')
    await settle(fleet)
    await hit('1')
    expect(origin.count).toBe(1)
    await fleet.runtime.advance(1400)
    await hit('1')
    expect(origin.count).toBe(2)
  })

  it('limits early refreshes, too', async () => {
    const fleet = createFleet({ refreshBudget: { perSecond: 1 }, earlyRefresh: { before: '1s' } })
    const origin = new Origin()
    for (const key of ['a', 'b']) await fleet.caches[0].set(key, 'old')
    await fleet.runtime.advance(9500)
    for (const key of ['a', 'b']) expect(await fleet.caches[0].getOrSet(key, origin.loader)).toBe('old')
    await settle(fleet)
    expect(origin.count).toBe(1)
  })

  it('gives the share of a refresh back that found the lease held', async () => {
    const { fleet, origin, hit } = await staleFleet({ refreshBudget: { perSecond: 1 } })
    const { acquire } = fleet.store
    fleet.store.acquire = () => Promise.resolve({ kind: 'held', remaining: 10 })
    await hit('0')
    fleet.store.acquire = acquire
    await hit('1')
    expect(origin.count).toBe(1)
  })

  it('is asked no more after a refusal until its time, for any key', async () => {
    const { fleet, origin, hit } = await staleFleet({ refreshBudget: { perSecond: 1 } })
    let asked = 0
    const { permitRefresh } = fleet.store
    fleet.store.permitRefresh = (request) => {
      asked += 1
      return permitRefresh.call(fleet.store, request)
    }
    await hit('0', '1')
    const before = asked
    await hit(...keys.slice(2))
    expect([asked, origin.count]).toEqual([before, 1])
    await fleet.runtime.advance(1200)
    await hit('2')
    expect(origin.count).toBe(2)
  })

  it('sends one request for a burst of hits after a refusal, and one or two more after a grant', async () => {
    const { fleet, origin } = await staleFleet({ refreshBudget: { perSecond: 1 } })
    const [cache] = fleet.caches
    let asked = 0
    const { permitRefresh } = fleet.store
    fleet.store.permitRefresh = (request) => {
      asked += 1
      return permitRefresh.call(fleet.store, request)
    }
    const burst = async (): Promise<void> => {
      await Promise.all(keys.map((key) => cache.getOrSet(key, origin.loader, tagged)))
      await settle(fleet)
    }
    await burst()
    const before = asked
    await fleet.runtime.advance(1200)
    await burst()
    expect([asked - before, origin.count]).toEqual([1, 2])
    await burst()
    expect(asked - before).toBeLessThanOrEqual(3)
  })

  it('is not used up by refreshes that maxLoads does not let begin', async () => {
    const { fleet, origin, hit } = await staleFleet({ refreshBudget: { perSecond: 1000 }, maxLoads: 1 })
    const other = new Origin()
    const loading = fleet.caches.map((cache) => cache.getOrSet('cold', other.loader))
    await settle(fleet)
    await hit(...keys, ...keys, ...keys)
    other.last.resolve('loaded')
    await Promise.all(loading)
    const before = origin.count
    await hit('5', '6')
    expect(origin.count).toBeGreaterThan(before)
  })

  it('sends no request for each hit of a burst', async () => {
    const fleet = createFleet({ refreshBudget: { perSecond: 1 } })
    const [cache] = fleet.caches
    let asked = 0
    fleet.store.permitRefresh = () => {
      asked += 1
      return new Promise(() => {})
    }
    for (let key = 0; key < 100; key += 1) await cache.set(String(key), 'old', tagged)
    await cache.expireTags(['t'])
    for (let key = 0; key < 100; key += 1) await cache.getOrSet(String(key), () => 'new', tagged)
    await settle(fleet)
    expect(asked).toBe(32)
  })
})

describe('refreshBudget.atOnce', () => {
  it('limits the refreshes that run at once, and another begins as soon as one ends', async () => {
    const { fleet, origin, hit } = await staleFleet({ refreshBudget: { atOnce: 2 } })
    await hit(...keys)
    expect(origin.count).toBe(2)
    origin.loads[0]?.resolve('new')
    await settle(fleet)
    await hit(...keys.slice(2))
    expect(origin.count).toBe(3)
  })

  it('counts no refresh that ended in any other way', async () => {
    const { fleet, origin, hit } = await staleFleet({
      refreshBudget: { atOnce: 1 },
      failureCooldown: { min: 1, max: 1 },
    })
    await hit('0')
    origin.last.reject(new Error('down'))
    await fleet.runtime.advance(100)
    await hit('1')
    origin.last.load.uncacheable()
    origin.last.resolve('new')
    await fleet.runtime.advance(100)
    await hit('2')
    expect(origin.count).toBe(3)
  })

  it('forgets a refresh whose process has died after its loadTimeout and lease', async () => {
    const { fleet, origin, hit } = await staleFleet({
      refreshBudget: { atOnce: 1 },
      loadTimeout: '3s',
      lease: { duration: '1s' },
    })
    fleet.store.endRefresh = () => new Promise(() => {})
    await hit('0')
    origin.last.resolve('new')
    await fleet.runtime.advance(3900)
    await hit('1')
    expect(origin.count).toBe(1)
    await fleet.runtime.advance(200)
    await hit('1')
    expect(origin.count).toBe(2)
  })
})

describe('a caller that joins a background refresh which waits for its permit', () => {
  const open = async () => {
    const { fleet, origin } = await staleFleet({ refreshBudget: { perSecond: 1 } })
    const [cache] = fleet.caches
    let answer: (granted: boolean) => void = () => undefined
    const ended: boolean[] = []
    fleet.store.permitRefresh = () =>
      new Promise((resolve) => {
        answer = (granted) => resolve(granted ? { kind: 'granted' } : { kind: 'exhausted', retryAfter: 1000 })
      })
    fleet.store.endRefresh = (_, unused) => {
      ended.push(unused)
      return Promise.resolve({ kind: 'done' })
    }
    expect(await cache.getOrSet('0', origin.loader, tagged)).toBe('old')
    await settle(fleet)
    const strict = cache.lookup('0', origin.loader, { staleWhileRevalidate: false })
    return { fleet, origin, strict, ended, answer: (granted: boolean) => answer(granted) }
  }

  it('does not wait for it: the load begins without one', async () => {
    const { fleet, origin, strict, ended, answer } = await open()
    await settle(fleet)
    expect(origin.count).toBe(1)
    answer(true)
    origin.last.resolve('new')
    expect(await strict).toMatchObject({ value: 'new' })
    await settle(fleet)
    expect(ended).toEqual([true])
  })

  it('loads in the foreground when the permit is refused in that moment', async () => {
    const { fleet, origin, strict, answer } = await open()
    answer(false)
    await settle(fleet)
    origin.last.resolve('new')
    expect(await strict).toMatchObject({ value: 'new' })
    expect(origin.count).toBe(1)
  })
})

describe('a refreshBudget while the store is away', () => {
  it('is counted in this process alone', async () => {
    const remote = new Remote()
    const cache = remote.join({ refreshBudget: { perSecond: 2 }, outage: { maxAge: '1m' }, maxLoads: false })
    const origin = new Origin()
    for (const key of keys.slice(0, 5)) await cache.set(key, 'old', { ttl: '1s', staleWhileRevalidate: '1h' })
    for (const key of keys.slice(0, 5)) await cache.get(key)
    await remote.runtime.advance(1001)
    remote.refuses = new Error('reset')
    const hitAll = async (): Promise<void> => {
      for (const key of keys.slice(0, 5)) expect(await cache.getOrSet(key, origin.loader)).toBe('old')
      await remote.runtime.advance(0)
    }
    await hitAll()
    await hitAll()
    expect(origin.count).toBe(1)
    await remote.runtime.advance(700)
    await hitAll()
    expect(origin.count).toBe(2)
  })

  it('ends the permit that a slow store has granted too late', async () => {
    const remote = new Remote()
    const cache = remote.join({ refreshBudget: { atOnce: 1 } })
    const origin = new Origin()
    await cache.set('k', 'old', { ttl: '1s', staleWhileRevalidate: '1h' })
    await remote.runtime.advance(1001)
    remote.delays.permitRefresh = 600
    expect(await cache.getOrSet('k', origin.loader)).toBe('old')
    await remote.runtime.advance(700)
    expect(remote.count('endRefresh')).toBe(1)
  })
})

describe('a refreshBudget', () => {
  it.each([{}, { perSecond: undefined, atOnce: undefined }])('of %j, without a limit, is refused', (refreshBudget) => {
    expect(() => createCache({ refreshBudget })).toThrow(/createCache.refreshBudget.*perSecond, atOnce, or both/)
  })
})
