import { describe, expect, it } from '@jest/globals'
import { createFleet, Origin, rejection, settle } from './fleet.ts'
import { never } from './memory-cache.ts'

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

  it('is acquired and released for each key that leads later', async () => {
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

  it('is released without a loader call when all loads have timed out in the queue', async () => {
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

describe('a batch whose loads all stopped while it queued for a permit', () => {
  it('makes a caller that joined since load for itself, when the lease was lost after all other callers had left', async () => {
    const fleet = createFleet({ maxLoads: 1, isFailure: () => false })
    const [cache, other] = fleet.caches
    const elsewhere = new Origin()
    const led = rejection(other.getOrSet('a', elsewhere.loader))
    await settle(fleet)
    const leaving = new AbortController()
    const batch = rejection(cache.getOrSetMany(['a'], never, { signal: leaving.signal }))
    await settle(fleet)
    const origin = new Origin()
    const running = cache.getOrSet('x', origin.loader)
    await settle(fleet)
    elsewhere.last.reject(new Error('over'))
    await settle(fleet)
    leaving.abort(new Error('not wanted any more'))
    fleet.muted = true
    await other.delete('a')
    await fleet.runtime.advance(10_000)
    const joiner = cache.getOrSet('a', () => 'mine')
    await settle(fleet)
    origin.last.resolve('x')
    await settle(fleet)
    expect(await Promise.race([joiner, Promise.resolve('waits')])).toBe('mine')
    expect([await running, await led, await batch]).toMatchObject([
      'x',
      { message: 'over' },
      { message: 'not wanted any more' },
    ])
  })
})
