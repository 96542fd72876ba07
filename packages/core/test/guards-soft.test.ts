import { describe, expect, it } from '@jest/globals'
import { json } from '@cattlegrid/core'
import { createFleet, type Fleet, Origin, rejection, settle } from './fleet.ts'

async function expired(fleet: Fleet, by: number): Promise<string> {
  await fleet.caches[0].set('k', 'stale')
  await fleet.runtime.advance(10_000 + by)
  const entry = fleet.store.peek('k', json, 0)
  return entry?.version ?? ''
}

describe('a call that was served a stale value at softTimeout', () => {
  it('still counts on the load: a follower that nobody else waits for goes on', async () => {
    const fleet = createFleet({ staleIfError: '1h', softTimeout: '300ms' })
    const seen = await expired(fleet, 1)
    await fleet.store.acquire('k', { duration: 2000, seen, wake: false, tags: false })
    const origin = new Origin()
    const call = fleet.caches[0].lookup('k', origin.loader)
    await fleet.runtime.advance(300)
    const { value, refresh } = await call
    expect(value).toBe('stale')
    await fleet.runtime.advance(2000)
    expect(origin.count).toBe(1)
    origin.last.resolve('new')
    expect(await refresh).toEqual({ kind: 'committed' })
  })

  it('looks again instead when the window of that value closed while it waited', async () => {
    const fleet = createFleet({ staleIfError: '2s', softTimeout: '300ms' })
    await expired(fleet, 1900)
    const origin = new Origin()
    const call = fleet.caches[0].lookup('k', origin.loader)
    await fleet.runtime.advance(5000)
    origin.last.resolve('new')
    expect(await call).toMatchObject({ value: 'new', status: 'loaded' })
    expect(origin.count).toBe(1)
  })
})

describe('an entry that was expired by hand', () => {
  it('is stale also for a clock that lags behind the expiry', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m' })
    const [cache] = fleet.caches
    const { now } = fleet.runtime
    fleet.runtime.coarseNow = () => now() - 1
    await cache.set('k', 'old')
    await cache.expire('k')
    expect(await cache.lookup('k', () => 'new')).toMatchObject({ value: 'old', status: 'stale' })
  })
})

describe('a refresh behind a stale value that was met inside a load', () => {
  it('needs a turn like any other: no load waits for it', async () => {
    const fleet = createFleet({ maxLoads: 1, staleWhileRevalidate: '1m' })
    const [cache] = fleet.caches
    await expired(fleet, 1)
    const { outcome, value } = await cache.lookup('outer', async () => {
      const { refresh } = await cache.lookup('k', () => 'new')
      return (await refresh)?.kind
    })
    expect({ outcome, value }).toEqual({ outcome: { kind: 'committed' }, value: 'abandoned' })
  })
})

describe('a call that loads alone', () => {
  it('is one of maxWaiters', async () => {
    const fleet = createFleet({ maxWaiters: 1, maxWaitersPerKey: 1 })
    const [cache] = fleet.caches
    await cache.getOrSet('k', (load) => load.uncacheable({ share: false }))
    const origin = new Origin()
    const first = cache.getOrSet('k', origin.loader)
    await settle(fleet)
    const second = rejection(cache.getOrSet('k', origin.loader))
    await settle(fleet)
    expect(await second).toMatchObject({ code: 'CATTLEGRID_TOO_MANY_WAITERS' })
    origin.last.resolve('mine')
    expect(await first).toBe('mine')
    expect(await cache.getOrSet('other', () => 'room again')).toBe('room again')
  })
})
