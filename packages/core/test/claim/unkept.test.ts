import { describe, expect, it } from '@jest/globals'
import type { Load } from '@cattlegrid/core'
import { createFleet, Origin, record, settle } from '../support/fleet.ts'
import { Remote } from '../support/remote.ts'

describe('a result that its loader keeps for no time', () => {
  it.each([0, -1, -Infinity, 0.3, '0s'] as const)('(%p) goes to its callers, and is no failure', async (ttl) => {
    const fleet = createFleet()
    const [cache, other] = fleet.caches
    const events = record(cache, 'load-failed', 'commit')
    const origin = new Origin()
    const loader = (load: Load): Promise<string> => {
      load.keep({ ttl })
      return origin.loader(load)
    }
    const first = cache.lookup('k', loader)
    await settle(fleet)
    const joined = cache.getOrSet('k', loader)
    const elsewhere = other.lookup('k', () => 'the next')
    await settle(fleet)
    origin.last.resolve('expired')
    expect(await first).toMatchObject({
      value: 'expired',
      freshFor: 0,
      outcome: { kind: 'uncacheable', for: 0, share: true, why: 'ttl' },
    })
    expect(await joined).toBe('expired')
    expect(await elsewhere).toMatchObject({ value: 'the next', outcome: { kind: 'committed' } })
    expect(events).toEqual([])
    expect(await cache.get('k')).toBe('the next')
  })

  it('is kept after all when the loader says so later', async () => {
    const [cache] = createFleet().caches
    await cache.getOrSet('k', (load) => {
      load.keep({ ttl: 0 })
      load.keep({ ttl: '1s', tags: ['t'] })
      return 'kept'
    })
    expect(await cache.read('k')).toMatchObject({ value: 'kept', freshFor: 1000 })
  })

  it('takes a fresh value with it, near copies included, and leaves no mark', async () => {
    const remote = new Remote()
    const { runtime, memory } = remote
    const [cache, other] = [remote.join({ near: {} }), remote.join({ near: {} })]
    await runtime.advance(0)
    await cache.set('k', 'old')
    for (const reader of [cache, other]) expect(await reader.get('k')).toBe('old')
    await cache.refresh('k', (load) => {
      load.keep({ ttl: 0 })
      return 'new'
    })
    await runtime.advance(1)
    for (const reader of [cache, other]) expect(await reader.get('k')).toBeUndefined()
    expect(await memory.acquire('k', { duration: 1000, seen: '', wake: false })).toMatchObject({ kind: 'lead' })
  })

  it('takes a stale value with it, which would be served on for its whole window', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m' })
    const [cache] = fleet.caches
    await cache.set('k', 'stale')
    await fleet.runtime.advance(10_001)
    const loader = (load: Load): string => {
      load.keep({ ttl: 0 })
      return 'expired'
    }
    expect(await cache.getOrSet('k', loader)).toBe('stale')
    await settle(fleet)
    expect(await cache.getOrSet('k', loader)).toBe('expired')
    // The next result may be kept, and refreshed again once it is stale.
    expect(await cache.getOrSet('k', () => 'kept')).toBe('kept')
    await fleet.runtime.advance(10_001)
    expect(await cache.getOrSet('k', () => 'refreshed')).toBe('kept')
    await settle(fleet)
    expect(await cache.getOrSet('k', loader)).toBe('refreshed')
  })

  it('may be one of a batch', async () => {
    const [cache] = createFleet().caches
    const values = new Map([
      ['a', 1],
      ['b', 2],
    ])
    const loaded = await cache.getOrSetMany(['a', 'b'], (_, load) => {
      load.keep('a', { ttl: -1 })
      return values
    })
    expect(loaded).toEqual(values)
    expect(await cache.getMany(['a', 'b'])).toEqual(new Map([['b', 2]]))
  })
})

describe('a loader that goes on after a refused load.keep or load.uncacheable', () => {
  it('keeps the options that it set before', async () => {
    const [cache] = createFleet().caches
    const call = cache.lookup('k', async (load) => {
      load.keep({ ttl: '7s' })
      expect(() => load.keep({ ttl: Number.NaN })).toThrow('load.keep.ttl')
      expect(() => load.uncacheable({ share: 'no' as never })).toThrow('load.uncacheable.share')
      return 'loaded'
    })
    expect(await call).toMatchObject({ freshFor: 7000, outcome: { kind: 'committed' } })
  })
})
