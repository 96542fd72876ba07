import { describe, expect, it } from '@jest/globals'
import type { Acquire } from '@cattlegrid/core/extend'
import { createFleet, type Fleet, Origin, settle } from '../support/fleet.ts'

async function staleFleet(): Promise<Fleet> {
  const fleet = createFleet({ staleWhileRevalidate: '1m' })
  await fleet.caches[0].set('k', 'stale')
  await fleet.runtime.advance(10_001)
  return fleet
}

function countAcquires(fleet: Fleet): { count: number } {
  const acquires = { count: 0 }
  const { acquire } = fleet.store
  fleet.store.acquire = (...args) => {
    acquires.count += 1
    return acquire.apply(fleet.store, args)
  }
  return acquires
}

describe('a process that serves a stale value', () => {
  it('acquires once, however many callers it serves meanwhile', async () => {
    const fleet = await staleFleet()
    const acquires = countAcquires(fleet)
    const origin = new Origin()
    await Promise.all(Array.from({ length: 20 }, () => fleet.caches[0].getOrSet('k', origin.loader)))
    await settle(fleet)
    await fleet.caches[0].getOrSet('k', origin.loader)
    await settle(fleet)
    expect(acquires.count).toBe(1)
    origin.last.resolve('new')
    await settle(fleet)
  })

  it('does not acquire again while the key cools down', async () => {
    const fleet = await staleFleet()
    const acquires = countAcquires(fleet)
    const failing = () => Promise.reject(new Error('down'))
    for (let hit = 0; hit < 10; hit += 1) {
      expect(await fleet.caches[0].getOrSet('k', failing)).toBe('stale')
      await settle(fleet)
    }
    expect(acquires.count).toBe(2)
  })

  it('calls no loader while the key cools down after a load that failed in another process', async () => {
    const fleet = await staleFleet()
    const [first, second] = fleet.caches
    const failed = await first.lookup('k', () => Promise.reject(new Error('down')))
    await failed.refresh
    const origin = new Origin()
    const { value, refresh } = await second.lookup('k', origin.loader)
    expect([value, await refresh]).toEqual(['stale', { kind: 'abandoned', why: 'cooling' }])
    expect(origin.count).toBe(0)
  })

  it('neither calls a loader nor acquires again during a hold-off, since nothing would be stored', async () => {
    const fleet = await staleFleet()
    const [first, second] = fleet.caches
    await first.expire('k', { holdOff: '2s' })
    const acquires = countAcquires(fleet)
    const origin = new Origin()
    const { value, refresh } = await second.lookup('k', origin.loader)
    expect([value, await refresh]).toEqual(['stale', { kind: 'abandoned', why: 'unleased' }])
    expect(await second.getOrSet('k', origin.loader)).toBe('stale')
    await settle(fleet)
    expect([acquires.count, origin.count]).toEqual([1, 0])
    await fleet.runtime.advance(2001)
    expect(await second.getOrSet('k', origin.loader)).toBe('stale')
    await settle(fleet)
    expect(origin.count).toBe(1)
  })

  it('acquires for the next version, although another process led the last one', async () => {
    const fleet = await staleFleet()
    fleet.muted = true
    const origin = new Origin()
    const leader = fleet.caches[0].lookup('k', (load) => {
      load.keep({ ttl: '1s' })
      return origin.loader(load)
    })
    await settle(fleet)
    await fleet.caches[1].getOrSet('k', origin.loader)
    await settle(fleet)
    expect(origin.count).toBe(1)
    origin.last.resolve('next')
    await (
      await leader
    ).refresh
    await fleet.runtime.advance(1001)
    expect(await fleet.caches[1].getOrSet('k', origin.loader)).toBe('next')
    await settle(fleet)
    expect(origin.count).toBe(2)
  })

  it('acquires again when the lease of a dead leader expires', async () => {
    const fleet = await staleFleet()
    const read = await fleet.store.read('k', { id: 1, encode: () => Buffer.alloc(0), decode: () => undefined })
    const seen = read.kind === 'found' ? read.entry.version : ''
    await fleet.store.acquire('k', { duration: 2000, seen, wake: false })
    const origin = new Origin()
    await fleet.caches[0].getOrSet('k', origin.loader)
    await fleet.runtime.advance(1990)
    await fleet.caches[0].getOrSet('k', origin.loader)
    await settle(fleet)
    expect(origin.count).toBe(0)
    await fleet.runtime.advance(20)
    await fleet.caches[0].getOrSet('k', origin.loader)
    await settle(fleet)
    expect(origin.count).toBe(1)
  })

  it('acquires again after an invalidation, although the version is the same', async () => {
    const fleet = await staleFleet()
    const [first, second, third] = fleet.caches
    const origin = new Origin()
    await third.expire('k')
    await first.getOrSet('k', origin.loader)
    await settle(fleet)
    await second.getOrSet('k', origin.loader)
    await settle(fleet)
    expect(origin.count).toBe(1)
    origin.last.resolve('new')
    await settle(fleet)
    await third.expire('k')
    await second.getOrSet('k', origin.loader)
    await settle(fleet)
    expect(origin.count).toBe(2)
  })

  it('loads again after an invalidation of tags only if the entry carries one of them', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m' })
    const [cache] = fleet.caches
    await cache.set('k', 'stale', { tags: ['t'] })
    await fleet.runtime.advance(10_001)
    const origin = new Origin()
    const hit = async (): Promise<number> => {
      expect(await cache.getOrSet('k', origin.loader, { isFailure: () => false })).toBe('stale')
      await settle(fleet)
      origin.last.reject(new Error('not found'))
      await settle(fleet)
      return origin.count
    }
    expect(await hit()).toBe(1)
    for (let fall = 0; fall < 10; fall += 1) {
      await cache.invalidateTags(['carried by nobody'])
      expect(await hit()).toBe(1)
    }
    await cache.expireTags(['u', 't'])
    expect(await hit()).toBe(2)
  })

  it.each<Acquire>([
    { kind: 'away', why: 'error', cause: new Error('reset') },
    { kind: 'uncacheable', remaining: 1000, share: true },
  ])('starts no background load when the store answers $kind', async (answer) => {
    const fleet = await staleFleet()
    fleet.store.acquire = () => Promise.resolve(answer)
    const origin = new Origin()
    const { value, refresh } = await fleet.caches[0].lookup('k', origin.loader)
    expect(value).toBe('stale')
    expect(await refresh).toMatchObject({ kind: 'abandoned' })
    expect(origin.count).toBe(0)
  })
})

describe('a stale key that the loader of getOrSetMany leaves out', () => {
  it('does not load again at every hit', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m', failureCooldown: { max: '2s' } })
    const [cache] = fleet.caches
    await cache.set('k', 'stale')
    await fleet.runtime.advance(10_001)
    let loads = 0
    const loader = (): Map<string, string> => {
      loads += 1
      return new Map()
    }
    for (let hit = 0; hit < 5; hit += 1) {
      expect(await cache.getOrSetMany(['k'], loader)).toEqual(new Map([['k', 'stale']]))
      await settle(fleet)
    }
    expect(loads).toBe(1)
    await fleet.runtime.advance(2000)
    await cache.getOrSetMany(['k'], loader)
    await settle(fleet)
    expect(loads).toBe(2)
  })
})
