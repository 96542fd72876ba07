import { describe, expect, it } from '@jest/globals'
import { json } from '@cattlegrid/core'
import { createFleet, Origin, rejection, settle } from '../support/fleet.ts'

describe('maxLoads', () => {
  it('limits the loads that run at once, first come, first served', async () => {
    const fleet = createFleet({ maxLoads: 2 })
    const [cache] = fleet.caches
    const origin = new Origin()
    const calls = ['a', 'b', 'c', 'd'].map((key) => cache.getOrSet(key, origin.loader))
    await settle(fleet)
    expect(origin.loads.map(({ load }) => load.key)).toEqual(['a', 'b'])
    origin.loads[1]?.resolve('b')
    await settle(fleet)
    expect(origin.loads.map(({ load }) => load.key)).toEqual(['a', 'b', 'c'])
    origin.loads[0]?.resolve('a')
    await settle(fleet)
    for (const { resolve } of origin.loads.slice(2)) resolve('later')
    expect(await Promise.all(calls)).toEqual(['a', 'b', 'later', 'later'])
  })

  it('leaves the lease to processes that have a free permit', async () => {
    const fleet = createFleet({ maxLoads: 1 })
    const [busy, idle] = fleet.caches
    const origin = new Origin()
    void busy.getOrSet('a', origin.loader)
    const waiting = busy.getOrSet('b', origin.loader)
    await settle(fleet)
    expect(await idle.getOrSet('b', () => 'idle hands')).toBe('idle hands')
    origin.last.resolve('a')
    await settle(fleet)
    expect(await waiting).toBe('idle hands')
  })

  it('grants a permit at once to a load inside a load', async () => {
    const fleet = createFleet({ maxLoads: 1 })
    const [cache] = fleet.caches
    const outer = cache.getOrSet('outer', () => cache.getOrSet('inner', () => 'both'))
    await settle(fleet)
    expect(await outer).toBe('both')
  })

  it('counts the wait for a permit towards waitTimeout, and removes a caller that gave up from the queue', async () => {
    const fleet = createFleet({ maxLoads: 1, waitTimeout: '1s' })
    const [cache] = fleet.caches
    const origin = new Origin()
    const running = cache.getOrSet('a', origin.loader)
    const waiting = rejection(cache.getOrSet('b', origin.loader))
    await fleet.runtime.advance(1011)
    expect(await waiting).toMatchObject({ code: 'CATTLEGRID_WAIT_TIMEOUT' })
    origin.last.resolve('a')
    expect(await running).toBe('a')
    await settle(fleet)
    expect(origin.count).toBe(1)
    expect(fleet.runtime.pendingTimers).toBe(0)
  })

  it('removes a caller without a wait budget from the queue', async () => {
    const fleet = createFleet({ maxLoads: 1, waitTimeout: 0 })
    const [cache] = fleet.caches
    cache.pause()
    const origin = new Origin()
    const running = cache.getOrSet('a', origin.loader)
    await settle(fleet)
    for (const key of ['b', 'c'])
      expect(await rejection(cache.getOrSet(key, origin.loader))).toMatchObject({ code: 'CATTLEGRID_WAIT_TIMEOUT' })
    origin.last.resolve('a')
    expect(await running).toBe('a')
    await settle(fleet)
    expect(origin.count).toBe(1)
  })

  it('gets the permit back from a caller whose signal aborts before it loads alone', async () => {
    const fleet = createFleet({ maxLoads: 1, waitTimeout: '1s', onWaitTimeout: 'load' })
    const [cache, other] = fleet.caches
    const elsewhere = new Origin()
    void other.getOrSet('k', elsewhere.loader)
    await settle(fleet)
    const controller = new AbortController()
    const own = new Origin()
    const leaving = rejection(cache.getOrSet('k', own.loader, { signal: controller.signal }))
    cache.on('wait-timeout', () => controller.abort(new Error('left')))
    await fleet.runtime.advance(1011)
    expect(await leaving).toMatchObject({ message: 'left' })
    expect(own.count).toBe(0)
    expect(await cache.getOrSet('another', () => 'loaded')).toBe('loaded')
  })

  it('counts a call inside a load as a waiter for as long as it waits', async () => {
    const [cache] = createFleet({ maxWaiters: 2 }).caches
    for (const round of [1, 2, 3]) {
      const inner = (): Promise<string> => cache.getOrSet(`inner ${round}`, () => 'both')
      expect(await cache.getOrSet(`outer ${round}`, inner)).toBe('both')
    }
  })

  it('skips a background refresh while no permit is free', async () => {
    const fleet = createFleet({ maxLoads: 1, staleWhileRevalidate: '1m' })
    const [cache] = fleet.caches
    await cache.set('b', 'stale')
    await fleet.runtime.advance(10_001)
    const origin = new Origin()
    void cache.getOrSet('a', origin.loader)
    await settle(fleet)
    const { value, refresh } = await cache.lookup('b', origin.loader)
    expect({ value, outcome: await refresh }).toEqual({ value: 'stale', outcome: { kind: 'abandoned', why: 'busy' } })
  })

  it('limits the loads of unshareable keys too', async () => {
    const fleet = createFleet({ maxLoads: 2 })
    const [cache] = fleet.caches
    await cache.getOrSet('k', (load) => load.uncacheable({ share: false }))
    const origin = new Origin()
    const calls = Promise.all(Array.from({ length: 5 }, () => cache.getOrSet('k', origin.loader)))
    await settle(fleet)
    expect(origin.count).toBe(2)
    for (let next = 0; next < 5; next += 1) {
      origin.loads[next]?.resolve(next)
      await settle(fleet)
    }
    expect(new Set(await calls).size).toBe(5)
  })
})

describe('maxWaiters', () => {
  it('rejects one call more than the limit, at once', async () => {
    const fleet = createFleet({ maxWaiters: 8, maxWaitersPerKey: 8 })
    const [cache] = fleet.caches
    const origin = new Origin()
    const calls = Promise.all(Array.from({ length: 8 }, (_, index) => cache.getOrSet(`k${index % 2}`, origin.loader)))
    await settle(fleet)
    expect(await rejection(cache.getOrSet('other', origin.loader))).toMatchObject({
      code: 'CATTLEGRID_TOO_MANY_WAITERS',
    })
    for (const { resolve } of origin.loads) resolve('value')
    expect(new Set(await calls)).toEqual(new Set(['value']))
    expect(await cache.getOrSet('other', () => 'room again')).toBe('room again')
  })

  it('counts a batch as one waiter, however many keys it waits for', async () => {
    const fleet = createFleet({ maxWaiters: 2 })
    const [cache] = fleet.caches
    const keys = Array.from({ length: 10 }, (_, index) => `k${index}`)
    let letGo = (): void => {}
    const loaded = new Promise<void>((resolve) => (letGo = resolve))
    const batch = cache.getOrSetMany(keys, async (missing) => {
      await loaded
      return new Map(missing.map((key) => [key, key]))
    })
    await settle(fleet)
    const origin = new Origin()
    const call = cache.getOrSet('other', origin.loader)
    await settle(fleet)
    expect(await rejection(cache.getOrSet('third', origin.loader))).toMatchObject({
      code: 'CATTLEGRID_TOO_MANY_WAITERS',
    })
    letGo()
    origin.last.resolve('value')
    expect([(await batch).size, await call]).toEqual([10, 'value'])
    expect(await cache.getOrSet('fourth', () => 'room again')).toBe('room again')
  })

  it('limits the waiters of one key', async () => {
    const fleet = createFleet({ maxWaiters: 8 })
    const [cache] = fleet.caches
    const origin = new Origin()
    const calls = [cache.getOrSet('hot', origin.loader), cache.getOrSet('hot', origin.loader)]
    await settle(fleet)
    expect(await rejection(cache.getOrSet('hot', origin.loader))).toMatchObject({ code: 'CATTLEGRID_TOO_MANY_WAITERS' })
    expect(await cache.getOrSet('cold', () => 'fine')).toBe('fine')
    origin.last.resolve('value')
    expect(await Promise.all(calls)).toEqual(['value', 'value'])
  })

  it('serves a stale value, where one may be served, instead of refusing', async () => {
    const fleet = createFleet({ maxWaiters: 1, staleIfError: '1h' })
    const [cache] = fleet.caches
    await cache.set('k', 'stale')
    await fleet.runtime.advance(10_001)
    const origin = new Origin()
    void cache.getOrSet('other', origin.loader)
    await settle(fleet)
    expect(await cache.getOrSet('k', origin.loader)).toBe('stale')
  })
})

describe("onWaitTimeout: 'load'", () => {
  it('lets up to maxLoads callers load alone, stores nothing, and rejects the rest', async () => {
    const fleet = createFleet({ maxLoads: 2, onWaitTimeout: 'load', waitTimeout: '1s', lease: { duration: '1m' } })
    const [cache] = fleet.caches
    await fleet.store.acquire('k', { duration: 60_000, seen: '', wake: false })
    const origin = new Origin()
    const calls = Array.from({ length: 5 }, () => cache.getOrSet('k', origin.loader))
    const ends = Promise.allSettled(calls)
    await fleet.runtime.advance(1100)
    expect(origin.count).toBe(2)
    for (const { resolve } of origin.loads) resolve('mine')
    await settle(fleet)
    const statuses = (await ends).map(({ status }) => status)
    expect(statuses.filter((status) => status === 'fulfilled')).toHaveLength(2)
    expect(await cache.get('k')).toBeUndefined()
  })

  it('lets a caller load alone when its stale window closed during the wait', async () => {
    const waits = { waitTimeout: '1s', onWaitTimeout: 'load', softTimeout: false, lease: { duration: '1m' } } as const
    const fleet = createFleet({ maxLoads: 2, staleIfError: '2s', ...waits })
    const [cache] = fleet.caches
    await cache.set('k', 'stale')
    await fleet.runtime.advance(11_500)
    const seen = fleet.store.peek('k', json, 0)?.version ?? ''
    await fleet.store.acquire('k', { duration: 60_000, seen, wake: false })
    const call = cache.lookup('k', () => 'mine')
    await fleet.runtime.advance(1100)
    expect(await call).toMatchObject({ value: 'mine', status: 'loaded', role: 'leader' })
  })

  it('is refused without a finite maxLoads', () => {
    expect(() => createFleet({ onWaitTimeout: 'load' })).toThrow(/onWaitTimeout.*maxLoads/)
  })
})

describe('a call that loads alone', () => {
  it('counts towards maxWaiters', async () => {
    const fleet = createFleet({ maxWaiters: 1, maxWaitersPerKey: 1 })
    const [cache] = fleet.caches
    await cache.getOrSet('k', (load) => load.uncacheable({ share: false }))
    const origin = new Origin()
    const first = cache.getOrSet('k', origin.loader)
    await settle(fleet)
    const second = rejection(cache.getOrSet('k', origin.loader))
    await settle(fleet)
    expect(await second).toMatchObject({ code: 'CATTLEGRID_TOO_MANY_WAITERS' })
    origin.last.resolve('mine')
    expect(await first).toBe('mine')
    expect(await cache.getOrSet('other', () => 'room again')).toBe('room again')
  })
})
