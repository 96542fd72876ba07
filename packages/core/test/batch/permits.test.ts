import { describe, expect, it } from '@jest/globals'
import type { CacheOptions } from '@cattlegrid/core'
import { createFleet, type Fleet, Origin, rejection, settle } from '../support/fleet.ts'
import { never } from '../support/memory-cache.ts'

const all = (keys: readonly string[]): Map<string, string> => new Map(keys.map((key) => [key, key]))

describe('the load permit of a batch', () => {
  it('is acquired before any lease, so that other processes can load the keys', async () => {
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
    expect(fleet.runtime.pendingTimers).toBe(0)
  })

  it('is waited for until waitTimeout, and then left to other callers', async () => {
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

  it('is released when no key needs a load', async () => {
    const fleet = createFleet({ maxLoads: 1 })
    const [cache] = fleet.caches
    await cache.set('a', 'kept')
    fleet.store.peek = () => undefined
    expect(await cache.getOrSetMany(['a'], all)).toEqual(new Map([['a', 'kept']]))
    expect(await cache.getOrSet('next', () => 'turn taken')).toBe('turn taken')
  })

  it('is released when the load ends', async () => {
    const fleet = createFleet({ maxLoads: 1 })
    const [cache] = fleet.caches
    await cache.getOrSetMany(['a'], all)
    const next = cache.getOrSet('next', () => 'turn taken')
    await settle(fleet)
    expect(await Promise.race([next, Promise.resolve('waits')])).toBe('turn taken')
  })

  it('is shared by the keys that lead later together', async () => {
    const fleet = createFleet({ maxLoads: 2 })
    const [cache, other] = fleet.caches
    const elsewhere = new Origin()
    const led = ['a', 'b'].map((key) => rejection(other.getOrSet(key, elsewhere.loader)))
    await settle(fleet)
    const asked: (readonly string[])[] = []
    const batch = cache.getOrSetMany(['a', 'b'], (keys) => {
      asked.push(keys)
      return all(keys)
    })
    await settle(fleet)
    const origin = new Origin()
    const running = ['x', 'y'].map((key) => cache.getOrSet(key, origin.loader))
    await settle(fleet)
    for (const { load } of elsewhere.loads) {
      load.uncacheable({ share: false })
      await settle(fleet)
    }
    expect(asked).toEqual([])
    for (const { resolve } of origin.loads) resolve('value')
    expect(await batch).toEqual(all(['a', 'b']))
    expect(asked).toEqual([['a', 'b']])
    await Promise.all(running)
    await settle(fleet)
    const later = new Origin()
    for (const key of ['p', 'q']) void cache.getOrSet(key, later.loader)
    await settle(fleet)
    expect(later.count).toBe(2)
    for (const { reject } of elsewhere.loads) reject(new Error('over'))
    await Promise.all(led)
  })

  it('is acquired anew by a key that leads after the loader was called', async () => {
    const fleet = createFleet({ maxLoads: 1, loadTimeout: '1s' })
    const [cache, other] = fleet.caches
    const elsewhere = new Origin()
    const led = rejection(other.getOrSet('b', elsewhere.loader, { loadTimeout: '1m' }))
    await settle(fleet)
    const groups: { readonly keys: readonly string[]; readonly resolve: (values: Map<string, string>) => void }[] = []
    const batch = cache.getOrSetMany<string>(
      ['a', 'b'],
      (keys) => new Promise((resolve) => groups.push({ keys, resolve })),
    )
    await fleet.runtime.advance(500)
    elsewhere.last.load.uncacheable({ share: false })
    await fleet.runtime.advance(400)
    expect(groups.map(({ keys }) => keys)).toEqual([['a']])
    groups[0]?.resolve(all(['a']))
    await fleet.runtime.advance(900)
    expect(groups.map(({ keys }) => keys)).toEqual([['a'], ['b']])
    groups[1]?.resolve(all(['b']))
    expect(await batch).toEqual(all(['a', 'b']))
    elsewhere.last.reject(new Error('over'))
    await led
  })

  it('is shared by the keys that lead together after the loader was called', async () => {
    const fleet = createFleet({ maxLoads: 1, isFailure: () => false })
    const [cache, ...others] = fleet.caches
    const elsewhere = new Origin()
    const led = others.map((other, index) => rejection(other.getOrSet(index === 0 ? 'b' : 'c', elsewhere.loader)))
    await settle(fleet)
    const asked: (readonly string[])[] = []
    const batch = cache.getOrSetMany(['a', 'b', 'c'], (keys) => {
      asked.push(keys)
      return all(keys)
    })
    await settle(fleet)
    for (const { reject } of elsewhere.loads) reject(new Error('not mine'))
    await Promise.all(led)
    await settle(fleet)
    expect(await batch).toEqual(all(['a', 'b', 'c']))
    expect(asked).toEqual([['a'], ['b', 'c']])
  })

  it("does not block a key that loads alone by onWaitTimeout: 'load'", async () => {
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

describe('a batch that queues for a permit', () => {
  async function withBusyPermit(options: CacheOptions = {}): Promise<Fleet> {
    const fleet = createFleet({ maxLoads: 1, waitTimeout: '1s', ...options })
    await fleet.caches[0].set('a', 'kept')
    void fleet.caches[0].getOrSet('running', new Origin().loader)
    await settle(fleet)
    return fleet
  }
  const kept = new Map([['a', 'kept']])

  it('does so only for keys that need a load', async () => {
    const fleet = await withBusyPermit()
    fleet.store.peek = () => undefined
    expect(await fleet.caches[0].getOrSetMany(['a'], never)).toEqual(kept)
  })

  it('gets a value inside staleWhileRevalidate at once', async () => {
    const fleet = await withBusyPermit({ staleWhileRevalidate: '1m' })
    await fleet.runtime.advance(10_001)
    expect(await fleet.caches[0].getOrSetMany(['a'], never)).toEqual(kept)
  })

  it('gets a value inside staleIfError at waitTimeout', async () => {
    const fleet = await withBusyPermit({ staleIfError: '1m', softTimeout: false })
    await fleet.runtime.advance(10_001)
    const batch = fleet.caches[0].getOrSetMany(['a'], never)
    await fleet.runtime.advance(1000)
    expect(await batch).toEqual(kept)
  })

  it('ends when the signal of its caller aborts, and begins no load', async () => {
    const fleet = await withBusyPermit()
    const abort = new AbortController()
    const batch = rejection(fleet.caches[0].getOrSetMany(['b'], never, { signal: abort.signal }))
    await settle(fleet)
    abort.abort(new Error('left'))
    expect(await batch).toMatchObject({ message: 'left' })
    expect(await fleet.caches[0].inspect('b')).toMatchObject({ lease: null, waitersHere: 0 })
  })

  it('counts as one waiter', async () => {
    const fleet = await withBusyPermit({ maxWaiters: 3 })
    const [cache] = fleet.caches
    const batch = rejection(cache.getOrSetMany(['b', 'c', 'd'], never))
    const last = rejection(cache.getOrSet('e', never))
    await settle(fleet)
    expect(await rejection(cache.getOrSet('f', never))).toMatchObject({ code: 'CATTLEGRID_TOO_MANY_WAITERS' })
    await fleet.runtime.advance(1000)
    for (const error of await Promise.all([batch, last]))
      expect(error).toMatchObject({ code: 'CATTLEGRID_WAIT_TIMEOUT' })
  })
})
