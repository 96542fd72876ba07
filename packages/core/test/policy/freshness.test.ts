import { describe, expect, it } from '@jest/globals'
import type { CallOptions } from '@cattlegrid/core'
import { createFleet } from '../support/fleet.ts'

describe('the windows of an entry', () => {
  it('end at their exact moment: fresh, then stale, then gone', async () => {
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

  it('are independent: staleWhileRevalidate does not serve for an error', async () => {
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
  ])('do not apply to a call that is strict about %s, even when its load fails', async (_, options) => {
    const fleet = createFleet({ staleIfError: '1h' })
    const [cache] = fleet.caches
    await cache.set('k', 'stale')
    await fleet.runtime.advance(10_001)
    await expect(cache.getOrSet('k', () => Promise.reject(new Error('down')), options)).rejects.toThrow('down')
  })

  it("are committed with the cache's values by a call that is strict about its own read", async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m', staleIfError: '1m' })
    const [cache] = fleet.caches
    await cache.getOrSet('k', () => 'value', { staleWhileRevalidate: false, staleIfError: false })
    await fleet.runtime.advance(10_001)
    expect(await cache.getOrSet('k', () => 'new')).toBe('value')
  })
})

describe('an entry that was expired', () => {
  it('is stale even for a clock that lags behind the expiry', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m' })
    const [cache] = fleet.caches
    const { now } = fleet.runtime
    fleet.runtime.coarseNow = () => now() - 1
    await cache.set('k', 'old')
    await cache.expire('k')
    expect(await cache.lookup('k', () => 'new')).toMatchObject({ value: 'old', status: 'stale' })
  })
})
