import { describe, expect, it } from '@jest/globals'
import * as fc from 'fast-check'
import { createFleet, Origin, settle } from './fleet.ts'

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
