import { describe, expect, it } from '@jest/globals'
import { isCattlegridError } from '@cattlegrid/core'
import { Permits, type QueuedLoad, ViewPermits } from '../../src/flight/permits.ts'
import { createFleet, Origin } from '../support/fleet.ts'
import { FIRST, setLimit } from '../support/load-board.ts'

describe('a load that queues', () => {
  it('gives back the permit of its view when the queue of the cache refuses it', () => {
    const own = new Permits(1)
    const refused: QueuedLoad[] = []
    const outer = {
      permitAvailable: false,
      tryAcquirePermit: () => undefined,
      queueForPermit: (load: QueuedLoad) => {
        refused.push(load)
        return () => undefined
      },
    }
    let refusedFor = 0
    const refuse = (wait: number): void => void (refusedFor = wait)
    const load = { callers: 1, patience: Infinity, onPermit: () => undefined, refuse }
    new ViewPermits(own, outer).queueForPermit(load)
    expect(own.permitAvailable).toBe(false)
    refused[0]?.refuse(7)
    expect(refusedFor).toBe(7)
    expect(own.permitAvailable).toBe(true)
  })

  it('has its callers served a stale value at once, and begins in its turn', async () => {
    const fleet = createFleet({ maxLoads: 1, staleIfError: '1h' })
    const [cache] = fleet.caches
    const origin = new Origin()
    await cache.set('stale', 'old', { ttl: '1ms' })
    await fleet.runtime.advance(2)
    const running = cache.getOrSet('running', origin.loader)
    await fleet.runtime.advance(0)
    const asked = fleet.runtime.elapsed()
    expect(await cache.getOrSet('stale', origin.loader)).toBe('old')
    expect(fleet.runtime.elapsed()).toBe(asked)
    expect(origin.count).toBe(1)
    origin.last.resolve('value')
    await running
    await fleet.runtime.advance(0)
    origin.last.resolve('new')
    await fleet.runtime.advance(0)
    expect(await cache.get('stale')).toBe('new')
  })
})

describe("a cache with maxLoads: 'auto'", () => {
  it('rejects a call whose load could not begin within waitTimeout, unless a stale value may be served', async () => {
    const fleet = createFleet({ maxLoads: 'auto', waitTimeout: '4s', staleIfError: '1h' })
    const [cache] = fleet.caches
    await setLimit(fleet, FIRST, 'default')
    const origin = new Origin()
    await cache.set('stale', 'old', { ttl: 1 })
    await fleet.runtime.advance(2)
    const ask = (kind: string): readonly Promise<unknown>[] =>
      Array.from({ length: 100 }, (_, key) => cache.getOrSet(`${kind}-${key}`, origin.loader))
    // The oldest loads go first, and the newest ones once the queue stands: the turn of this one comes last.
    const older = ask('older')
    const stale = cache.getOrSet('stale', origin.loader, { softTimeout: false })
    const ends = [...older, ...ask('newer')]
    const settled = Promise.allSettled(ends)
    // A source that answers six loads in half a second, however many it has.
    for (let turn = 0; turn < 20; turn += 1) {
      await fleet.runtime.advance(500)
      for (const { resolve } of origin.loads.slice(6 * turn, 6 * turn + 6)) resolve('value')
    }
    expect(await stale).toBe('old')
    const refused = (await settled).filter((end) => end.status === 'rejected')
    expect(refused.length).toBeGreaterThan(50)
    for (const { reason } of refused) expect(isCattlegridError(reason, 'CATTLEGRID_OVERLOADED')).toBe(true)
  })

  it('has a limit of its own for the source of a view', async () => {
    const fleet = createFleet({ maxLoads: 'auto' })
    const [cache] = fleet.caches
    const reviews = cache.with({ source: 'reviews', maxLoads: 'auto' })
    const limits: string[] = []
    cache.on('load-limit', ({ source }) => void limits.push(source))
    const origin = new Origin()
    const ends = [cache, reviews].flatMap((view, index) =>
      Array.from({ length: 30 }, (_, key) => view.getOrSet(`${index}-${key}`, origin.loader)),
    )
    await fleet.runtime.advance(300)
    expect(origin.count).toBe(2 * FIRST)
    for (let round = 0; round < 20; round += 1) {
      for (const { resolve } of origin.loads) resolve('value')
      await fleet.runtime.advance(100)
    }
    await Promise.all(ends)
    expect(new Set(limits)).toEqual(new Set(['default', 'reviews']))
  })

  it('does not count for a view of another source with a number', async () => {
    const fleet = createFleet({ maxLoads: 'auto' })
    const [cache] = fleet.caches
    const reviews = cache.with({ source: 'reviews', maxLoads: FIRST + 3 })
    const origin = new Origin()
    const ends = Array.from({ length: FIRST + 8 }, (_, key) => reviews.getOrSet(`${key}`, origin.loader))
    await fleet.runtime.advance(300)
    expect(origin.count).toBe(FIRST + 3)
    for (let round = 0; round < 3; round += 1) {
      for (const { resolve } of origin.loads) resolve('value')
      await fleet.runtime.advance(100)
    }
    await Promise.all(ends)
  })
})
