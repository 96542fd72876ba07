import { describe, expect, it } from '@jest/globals'
import { type CallOptions, createCache, memoryStore } from '@cattlegrid/core'
import { createFleet, Origin, rejection, settle } from './fleet.ts'

describe('the windows of an entry', () => {
  it('end at their last moment: fresh, then stale, then nothing', async () => {
    const fleet = createFleet({ staleIfError: '2s' })
    const [cache] = fleet.caches
    const states: (string | undefined)[] = []
    await cache.set('k', 1)
    for (const step of [9999, 1, 1999, 1]) {
      await fleet.runtime.advance(step)
      states.push((await cache.read('k'))?.state)
    }
    expect(states).toEqual(['fresh', 'stale', 'stale', undefined])
  })

  it('are each their own: what may be served while it is refreshed need not be served for an error', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m', staleIfError: '2s' })
    const [cache] = fleet.caches
    await cache.set('k', 'stale')
    await fleet.runtime.advance(12_000)
    const call = cache.getOrSet('k', () => Promise.reject(new Error('down')), { staleWhileRevalidate: false })
    await expect(call).rejects.toThrow('down')
  })

  it.each<[string, CallOptions]>([
    ['staleIfError', { staleIfError: false }],
    ['maxAge', { maxAge: '10s' }],
  ])('are refused by a call that is strict about %s, also when its load fails', async (_, options) => {
    const fleet = createFleet({ staleIfError: '1h' })
    const [cache] = fleet.caches
    await cache.set('k', 'stale')
    await fleet.runtime.advance(10_001)
    await expect(cache.getOrSet('k', () => Promise.reject(new Error('down')), options)).rejects.toThrow('down')
  })

  it('are committed as the cache has them by a call that is strict about what it reads', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m', staleIfError: '1m' })
    const [cache] = fleet.caches
    await cache.getOrSet('k', () => 'value', { staleWhileRevalidate: false, staleIfError: false })
    await fleet.runtime.advance(10_001)
    expect(await cache.getOrSet('k', () => 'new')).toBe('value')
  })
})

describe('the moment of an early refresh', () => {
  it('is drawn once per copy, not at every hit, and anew for the next copy', async () => {
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

  it('does not come for a call that switches it off', async () => {
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

describe('a call', () => {
  it('with an option that nobody knows is refused and begins no load', async () => {
    const origin = new Origin()
    const call = createFleet().caches[0].getOrSet('k', origin.loader, { tll: '1s' } as CallOptions)
    expect(await rejection(call)).toMatchObject({
      code: 'CATTLEGRID_INVALID_OPTION',
      option: 'getOrSet.tll',
      message: expect.stringContaining("did you mean 'ttl'"),
    })
    expect(origin.count).toBe(0)
  })

  it('that nobody gave a ttl is refused and begins no load', async () => {
    const origin = new Origin()
    const call = createCache().getOrSet('k', origin.loader)
    expect(await rejection(call)).toMatchObject({ code: 'CATTLEGRID_INVALID_OPTION', option: 'ttl' })
    expect(origin.count).toBe(0)
  })
})

describe('a tag that falls again and again', () => {
  it('takes nothing with it but what carries it', async () => {
    const cache = createCache({ store: memoryStore({ maxEntries: 3 }), ttl: '10s' })
    await cache.set('k', 'kept', { tags: ['quiet'] })
    for (let fall = 0; fall < 10; fall += 1) await cache.invalidateTags(['loud'])
    expect(await cache.get('k')).toBe('kept')
  })
})
