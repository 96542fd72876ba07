import { describe, expect, it } from '@jest/globals'
import { createFleet, Origin, rejection, settle } from './fleet.ts'

const all = (keys: readonly string[]): Map<string, string> => new Map(keys.map((key) => [key, key]))

describe('a batch', () => {
  it('waits for a turn without a lease in hand, so that others can load its keys', async () => {
    const fleet = createFleet({ maxLoads: 1 })
    const [busy, idle] = fleet.caches
    const origin = new Origin()
    const running = busy.getOrSet('running', origin.loader)
    await settle(fleet)
    const batch = busy.getOrSetMany(['a', 'b'], all)
    await settle(fleet)
    expect(await idle.getOrSet('a', () => 'idle hands')).toBe('idle hands')
    origin.last.resolve('done')
    expect(await running).toBe('done')
    await settle(fleet)
    expect(await batch).toEqual(
      new Map([
        ['a', 'idle hands'],
        ['b', 'b'],
      ]),
    )
  })

  it('gives up waiting for a turn at waitTimeout, and leaves the turn to others', async () => {
    const fleet = createFleet({ maxLoads: 1, waitTimeout: '1s' })
    const [cache] = fleet.caches
    const origin = new Origin()
    const running = cache.getOrSet('running', origin.loader)
    await settle(fleet)
    const batch = rejection(cache.getOrSetMany(['a'], all))
    await fleet.runtime.advance(1000)
    expect(await batch).toMatchObject({ code: 'CATTLEGRID_WAIT_TIMEOUT' })
    origin.last.resolve('done')
    expect(await running).toBe('done')
    const next = cache.getOrSet('next', () => 'turn taken')
    await settle(fleet)
    expect(await Promise.race([next, Promise.resolve('waits')])).toBe('turn taken')
    expect(fleet.runtime.pendingTimers).toBe(0)
  })

  it('gives back a turn that it did not need, because somebody had stored every key', async () => {
    const fleet = createFleet({ maxLoads: 1 })
    const [cache] = fleet.caches
    await cache.set('a', 'kept')
    fleet.store.peek = () => undefined
    expect(await cache.getOrSetMany(['a'], all)).toEqual(new Map([['a', 'kept']]))
    expect(await cache.getOrSet('next', () => 'turn taken')).toBe('turn taken')
  })

  it('gives back the turn of a load that has ended', async () => {
    const fleet = createFleet({ maxLoads: 1 })
    const [cache] = fleet.caches
    await cache.getOrSetMany(['a'], all)
    const next = cache.getOrSet('next', () => 'turn taken')
    await settle(fleet)
    expect(await Promise.race([next, Promise.resolve('waits')])).toBe('turn taken')
  })

  it('loads what is missing and what is stale in one call', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m' })
    const [cache] = fleet.caches
    await cache.set('a', 'stale')
    await fleet.runtime.advance(10_001)
    const { acquire } = fleet.store
    fleet.store.acquire = async (key, request) => {
      if (key === 'a') await new Promise<void>((resolve) => fleet.runtime.schedule(resolve, 10))
      return acquire.call(fleet.store, key, request)
    }
    const asked: (readonly string[])[] = []
    const call = cache.getOrSetMany(['a', 'b'], (keys) => {
      asked.push(keys.toSorted())
      return all(keys)
    })
    await fleet.runtime.advance(10)
    expect(await call).toEqual(
      new Map([
        ['a', 'stale'],
        ['b', 'b'],
      ]),
    )
    await settle(fleet)
    expect(asked).toEqual([['a', 'b']])
    expect(await cache.get('a')).toBe('a')
  })

  it('gives back every turn that it took for keys which were re-elected one after the other', async () => {
    const fleet = createFleet({ maxLoads: 2 })
    const [cache, other] = fleet.caches
    const [forA, forB] = [new Origin(), new Origin()]
    const led = [rejection(other.getOrSet('a', forA.loader)), rejection(other.getOrSet('b', forB.loader))]
    await settle(fleet)
    const groups: { readonly keys: readonly string[]; readonly resolve: (values: Map<string, string>) => void }[] = []
    const batch = cache.getOrSetMany<string>(
      ['a', 'b'],
      (keys) => new Promise((resolve) => groups.push({ keys, resolve })),
    )
    await settle(fleet)
    const origin = new Origin()
    const running = ['x', 'y'].map((key) => cache.getOrSet(key, origin.loader))
    await settle(fleet)
    for (const { last } of [forA, forB]) {
      last.load.uncacheable({ share: false })
      await settle(fleet)
    }
    expect(groups).toEqual([])
    for (const { resolve } of origin.loads) {
      resolve('value')
      await settle(fleet)
    }
    expect(groups.map(({ keys }) => keys)).toEqual([['a'], ['b']])
    for (const { keys, resolve } of groups) {
      resolve(all(keys))
      await settle(fleet)
    }
    expect(await batch).toEqual(all(['a', 'b']))
    await Promise.all(running)
    const later = new Origin()
    for (const key of ['p', 'q']) void cache.getOrSet(key, later.loader)
    await settle(fleet)
    expect(later.count).toBe(2)
    for (const { last } of [forA, forB]) last.reject(new Error('over'))
    await Promise.all(led)
  })

  it('calls no loader for keys whose loads ended while it waited for a turn', async () => {
    const fleet = createFleet({ maxLoads: 1, loadTimeout: '1s' })
    const [cache, other] = fleet.caches
    const elsewhere = new Origin()
    const led = other.getOrSet('a', elsewhere.loader, { loadTimeout: '1m' })
    await settle(fleet)
    const asked: (readonly string[])[] = []
    const batch = rejection(
      cache.getOrSetMany(['a'], (keys) => {
        asked.push(keys)
        return all(keys)
      }),
    )
    await settle(fleet)
    const origin = new Origin()
    const running = cache.getOrSet('x', origin.loader, { loadTimeout: '1m' })
    await settle(fleet)
    elsewhere.last.load.uncacheable({ share: false })
    await fleet.runtime.advance(1001)
    expect(await batch).toMatchObject({ code: 'CATTLEGRID_LOAD_TIMEOUT' })
    origin.last.resolve('x')
    expect(await running).toBe('x')
    await settle(fleet)
    expect(asked).toEqual([])
    elsewhere.last.resolve('a')
    expect(await led).toBe('a')
  })

  it("whose keys load alone, by onWaitTimeout: 'load', does not wait for the turn that they were given", async () => {
    const fleet = createFleet({ maxLoads: 1, onWaitTimeout: 'load', waitTimeout: '1s' })
    const [cache, other] = fleet.caches
    const elsewhere = new Origin()
    const led = other.getOrSet('k', elsewhere.loader)
    await settle(fleet)
    const batch = cache.getOrSetMany(['k'], () => new Map([['k', 'mine']]))
    await fleet.runtime.advance(1100)
    expect(await batch).toEqual(new Map([['k', 'mine']]))
    elsewhere.last.resolve('theirs')
    expect(await led).toBe('theirs')
  })
})
