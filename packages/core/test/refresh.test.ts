import { describe, expect, it } from '@jest/globals'
import { createFleet, Origin, settle } from './fleet.ts'
import { never } from './memory-cache.ts'

describe('refresh', () => {
  it('loads although the value is fresh, and lets the lease decide between processes', async () => {
    const fleet = createFleet()
    const [cache, other] = fleet.caches
    await cache.set('k', 'old')
    const origin = new Origin()
    const calls = [
      cache.refresh('k', origin.loader),
      cache.refresh('k', origin.loader),
      other.refresh('k', origin.loader),
    ]
    await settle(fleet)
    expect(origin.count).toBe(1)
    origin.last.resolve('new')
    await settle(fleet)
    expect(await Promise.all(calls)).toEqual(['new', 'new', 'new'])
    expect(await other.get('k')).toBe('new')
  })

  it('is not content with the value that it found, when the load that it joined was not stored', async () => {
    const fleet = createFleet({ ttl: '1m', lease: { duration: '1s', maxHold: '1s' } })
    const [cache] = fleet.caches
    await cache.set('k', 'old')
    const [first, second] = [new Origin(), new Origin()]
    void cache.refresh('k', first.loader)
    await settle(fleet)
    const joiner = cache.refresh('k', second.loader)
    await fleet.runtime.advance(1001)
    first.last.resolve('too late')
    await settle(fleet)
    second.last.resolve('new')
    expect(await joiner).toBe('new')
  })

  it('is not content with the value that it found, when that is all that the call it joined has waited for', async () => {
    const fleet = createFleet()
    const [cache, other] = fleet.caches
    const elsewhere = new Origin()
    void other.getOrSet('k', elsewhere.loader)
    await settle(fleet)
    const follower = cache.getOrSet('k', never)
    await settle(fleet)
    fleet.muted = true
    elsewhere.last.resolve('old')
    await settle(fleet)
    const refreshing = cache.refresh('k', () => 'new')
    await fleet.runtime.advance(1000)
    expect(await follower).toBe('old')
    expect(await refreshing).toBe('new')
  })

  it('is not content with the value that was there, although its first read found the store away', async () => {
    const fleet = createFleet({ ttl: '1m', lease: { duration: '1s', maxHold: '1s' } })
    const [cache] = fleet.caches
    await cache.set('k', 'old')
    const [first, second] = [new Origin(), new Origin()]
    void cache.refresh('k', first.loader)
    await settle(fleet)
    const { read } = fleet.store
    fleet.store.read = () => {
      fleet.store.read = read
      return Promise.resolve({ kind: 'away', why: 'error', cause: new Error('reset') })
    }
    const joiner = cache.refresh('k', second.loader)
    await fleet.runtime.advance(1001)
    first.last.resolve('too late')
    await settle(fleet)
    second.last.resolve('new')
    expect(await joiner).toBe('new')
  })

  it('is not content with the value that was there, although it was expired by hand meanwhile', async () => {
    const fleet = createFleet({ ttl: '1m', staleWhileRevalidate: '1m' })
    const [cache, other] = fleet.caches
    await cache.set('k', 'old')
    const [first, second] = [new Origin(), new Origin()]
    void cache.refresh('k', first.loader)
    await settle(fleet)
    const late = cache.refresh('k', second.loader)
    await settle(fleet)
    await other.expire('k')
    first.last.resolve('refused')
    await settle(fleet)
    second.last.resolve('new')
    expect(await late).toBe('new')
  })
})
