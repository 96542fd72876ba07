import { describe, expect, it } from '@jest/globals'
import * as fc from 'fast-check'
import { createFleet, Origin, settle } from '../support/fleet.ts'
import { never } from '../support/memory-cache.ts'
import { Remote } from '../support/remote.ts'

describe('an early refresh', () => {
  it('runs in the background of a fresh value, from `before` its expiry', async () => {
    const fleet = createFleet({ earlyRefresh: { before: '2s' } })
    const [cache] = fleet.caches
    const origin = new Origin()
    await cache.set('k', 'old')
    await fleet.runtime.advance(7999)
    expect((await cache.lookup('k', origin.loader)).refresh).toBeUndefined()
    await fleet.runtime.advance(1)
    const { value, status, refresh } = await cache.lookup('k', origin.loader)
    expect({ value, status }).toEqual({ value: 'old', status: 'fresh' })
    await settle(fleet)
    origin.last.resolve('new')
    expect(await refresh).toEqual({ kind: 'committed' })
    expect(await cache.getOrSet('k', origin.loader)).toBe('new')
    expect(origin.count).toBe(1)
  })

  it('comes -ln(random) · beta · load time before the expiry', async () => {
    const fleet = createFleet({ earlyRefresh: { beta: 2 } })
    const [cache] = fleet.caches
    const origin = new Origin()
    const first = cache.getOrSet('k', origin.loader)
    await fleet.runtime.advance(100)
    origin.last.resolve('old')
    await first
    fleet.runtime.setRandom([1 - Math.exp(-3)])
    const moment = 10_000 - 3 * 2 * 100
    await fleet.runtime.advance(moment - 1)
    await cache.getOrSet('k', origin.loader)
    await settle(fleet)
    expect(origin.count).toBe(1)
    await fleet.runtime.advance(1)
    await cache.getOrSet('k', origin.loader)
    await settle(fleet)
    expect(origin.count).toBe(2)
  })

  it('runs once per expiry, however many readers and processes there are', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ at: fc.integer({ min: 0, max: 9999 }), process: fc.integer({ min: 0, max: 2 }) }), {
          minLength: 1,
          maxLength: 60,
        }),
        fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 1, maxLength: 20 }),
        async (reads, randoms) => {
          const fleet = createFleet({ earlyRefresh: { beta: 50 } })
          let loads = 0
          const source = async (): Promise<number> => {
            await Promise.resolve()
            return (loads += 1)
          }
          const slow = new Origin()
          const first = fleet.caches[0].getOrSet('k', slow.loader)
          await fleet.runtime.advance(100)
          slow.last.resolve(0)
          await first
          fleet.runtime.setRandom(randoms)
          const begin = fleet.runtime.now()
          for (const { at, process } of reads.toSorted((one, other) => one.at - other.at)) {
            await fleet.runtime.advanceTo(Math.max(begin + at, fleet.runtime.now()))
            if (loads > 0) break
            await Promise.all([process, 0, 1, 2].map((index) => fleet.caches[index as 0 | 1 | 2].getOrSet('k', source)))
            await settle(fleet)
            expect(loads).toBeLessThanOrEqual(1)
          }
        },
      ),
      { numRuns: 60 },
    )
  })
})

describe('the moment of an early refresh', () => {
  it('is drawn once per copy, not at every hit', async () => {
    const fleet = createFleet({ earlyRefresh: { beta: 1 } })
    const [cache] = fleet.caches
    let draws = 0
    const random = (): number => {
      draws += 1
      return 0
    }
    const load = async (): Promise<void> => {
      const origin = new Origin()
      const call = cache.getOrSet('k', origin.loader)
      await fleet.runtime.advance(100)
      origin.last.resolve('value')
      await call
      // Any earlier no random number could bring it about.
      await fleet.runtime.advance(8000)
      fleet.runtime.setRandom(random)
      draws = 0
      for (let hit = 0; hit < 20; hit += 1) await cache.getOrSet('k', origin.loader)
    }
    await load()
    expect(draws).toBe(1)
    await cache.delete('k')
    await load()
    expect(draws).toBe(1)
  })

  it('does not apply to a call with earlyRefresh: false', async () => {
    const fleet = createFleet({ earlyRefresh: { before: '2s' } })
    const [cache] = fleet.caches
    await cache.set('k', 'value')
    await fleet.runtime.advance(9000)
    const origin = new Origin()
    expect((await cache.lookup('k', origin.loader, { earlyRefresh: false })).refresh).toBeUndefined()
    await settle(fleet)
    expect(origin.count).toBe(0)
  })
})

describe('a copy whose early refresh is due', () => {
  const dueCopy = async () => {
    const remote = new Remote()
    const cache = remote.join({ near: { maxAge: '1m' }, earlyRefresh: { before: '2s' } })
    await cache.set('k', 'old')
    await cache.get('k')
    await remote.runtime.advance(8000)
    const before = { reads: remote.count('read'), acquires: remote.count('acquire') }
    const asked = () => ({
      reads: remote.count('read') - before.reads,
      acquires: remote.count('acquire') - before.acquires,
    })
    return { remote, cache, asked }
  }

  it.each(['runs', 'has failed', 'is left to another process'])(
    'serves every other hit while its refresh %s',
    async (state) => {
      const { remote, cache, asked } = await dueCopy()
      const origin = new Origin()
      if (state === 'is left to another process')
        await remote.memory.acquire('k', { duration: 5000, seen: '1', wake: false })
      for (let hit = 0; hit < 1000; hit += 1) {
        expect(await cache.getOrSet('k', origin.loader)).toBe('old')
        if (hit % 250 > 0) continue
        await remote.runtime.advance(100)
        if (state === 'has failed' && hit === 0) origin.last.reject(new Error('failed'))
      }
      expect(asked()).toEqual({ reads: 1, acquires: 1 })
      expect(origin.count).toBe(state === 'is left to another process' ? 0 : 1)
    },
  )

  it('is served to calls that never load, without a read', async () => {
    const { cache, asked } = await dueCopy()
    await cache.get('k')
    const { reads } = asked()
    expect(await Promise.all([cache.get('k'), cache.getMany(['k'])])).toEqual(['old', new Map([['k', 'old']])])
    expect(asked()).toEqual({ reads, acquires: 0 })
  })

  it('is refreshed again in its next version', async () => {
    const { remote, cache } = await dueCopy()
    const origin = new Origin()
    for (const value of ['second', 'third']) {
      await cache.getOrSet('k', origin.loader)
      await remote.runtime.advance(0)
      origin.last.resolve(value)
      await remote.runtime.advance(8000)
    }
    expect([origin.count, await cache.get('k')]).toEqual([2, 'third'])
  })
})

describe('a ttl that is not longer than `before`', () => {
  it.each([1000, 2000])('of %d ms by load.keep, is refreshed once in its second half', async (ttl) => {
    const fleet = createFleet({ earlyRefresh: { before: '2s' } })
    const [cache] = fleet.caches
    let loads = 0
    for (let at = 0; at < 10 * ttl; at += 50) {
      await cache.getOrSet('k', ({ keep }) => {
        keep({ ttl })
        return (loads += 1)
      })
      await fleet.runtime.advance(50)
    }
    expect(loads).toBeGreaterThanOrEqual(15)
    expect(loads).toBeLessThanOrEqual(20)
  })

  it('of `set`, or by jitter, is not due at its commit', async () => {
    const fleet = createFleet({ earlyRefresh: { before: '6s' }, jitter: 0.5 })
    const [cache] = fleet.caches
    await cache.set('k', 'value', { ttl: '1s' })
    await cache.getOrSet('k', never)
    fleet.runtime.setRandom([1])
    await cache.set('k', 'value')
    await cache.getOrSet('k', never)
    await settle(fleet)
    expect(await cache.get('k')).toBe('value')
  })
})

describe('an early refresh that could not begin', () => {
  it('for want of refreshBudget is tried again while the entry is still fresh', async () => {
    const fleet = createFleet({ refreshBudget: { perSecond: 1 }, earlyRefresh: { before: '5s' } })
    const [cache] = fleet.caches
    const origin = new Origin()
    for (const key of ['a', 'b']) await cache.set(key, 'old')
    await fleet.runtime.advance(6000)
    const loadedAt: number[] = []
    for (let moment = 0; moment < 30; moment += 1) {
      const before = origin.count
      for (const key of ['a', 'b']) expect(await cache.getOrSet(key, origin.loader)).toBe('old')
      await fleet.runtime.advance(100)
      if (origin.count > before) loadedAt.push(moment)
    }
    expect(origin.loads.map(({ load }) => load.key)).toEqual(['a', 'b'])
    expect(loadedAt[1]).toBeGreaterThan(8)
  })

  it('for want of maxLoads is tried again once a load has ended', async () => {
    const fleet = createFleet({ maxLoads: 1, earlyRefresh: { before: '5s' } })
    const [cache] = fleet.caches
    const [busy, early] = [new Origin(), new Origin()]
    await cache.set('k', 'old')
    const other = cache.getOrSet('other', busy.loader)
    await fleet.runtime.advance(6000)
    expect(await cache.getOrSet('k', never)).toBe('old')
    busy.last.resolve(1)
    await other
    expect(await cache.getOrSet('k', early.loader)).toBe('old')
    await settle(fleet)
    expect(early.count).toBe(1)
  })
})
