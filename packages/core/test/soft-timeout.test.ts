import { describe, expect, it } from '@jest/globals'
import { json } from '@cattlegrid/core'
import { createFleet, type Fleet, Origin, settle } from './fleet.ts'

async function expired(fleet: Fleet, by: number): Promise<string> {
  await fleet.caches[0].set('k', 'stale')
  await fleet.runtime.advance(10_000 + by)
  const entry = fleet.store.peek('k', json, 0)
  return entry?.version ?? ''
}

describe('a call that was served a stale value at softTimeout', () => {
  it('keeps its follower running, even without other callers', async () => {
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

  it('ends the refresh that waits for a permit, unless another call waits for it', async () => {
    const fleet = createFleet({ staleIfError: '1h', softTimeout: '300ms', maxLoads: 1 })
    const [cache] = fleet.caches
    await cache.set('other', 'stale')
    await expired(fleet, 1)
    const origin = new Origin()
    void cache.getOrSet('running', origin.loader)
    const left = cache.lookup('k', origin.loader)
    const kept = cache.lookup('other', origin.loader)
    const joined = cache.getOrSet('other', origin.loader, { softTimeout: false })
    await fleet.runtime.advance(300)
    expect((await left).value).toBe('stale')
    expect((await kept).value).toBe('stale')
    expect(await (await left).refresh).toEqual({ kind: 'abandoned', why: 'busy' })
    origin.last.resolve('ran')
    await settle(fleet)
    expect(origin.loads.map(({ load }) => load.key)).toEqual(['running', 'other'])
    origin.last.resolve('new')
    expect(await joined).toBe('new')
    expect(fleet.runtime.pendingTimers).toBe(0)
  })

  it('keeps no follower in the queue for a permit', async () => {
    const fleet = createFleet({ staleIfError: '1h', softTimeout: '300ms', maxLoads: 1 })
    const [cache] = fleet.caches
    const seen = await expired(fleet, 1)
    await fleet.store.acquire('k', { duration: 2000, seen, wake: false, tags: false })
    const origin = new Origin()
    const call = cache.lookup('k', origin.loader)
    await fleet.runtime.advance(300)
    const { refresh } = await call
    void cache.getOrSet('running', origin.loader)
    await fleet.runtime.advance(2000)
    expect(await refresh).toEqual({ kind: 'abandoned', why: 'busy' })
    expect(origin.count).toBe(1)
  })

  it('waits for the load instead when the stale window closed meanwhile', async () => {
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
