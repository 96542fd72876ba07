import { describe, expect, it } from '@jest/globals'
import { createFleet, Origin, settle, trace, rejection } from '../support/fleet.ts'

describe('followers in other processes', () => {
  it('run one load for the whole fleet, and are woken by its commit', async () => {
    const fleet = createFleet()
    const origin = new Origin()
    const calls = fleet.caches.flatMap((cache) => Array.from({ length: 50 }, () => cache.getOrSet('k', origin.loader)))
    await settle(fleet)
    expect(origin.count).toBe(1)
    origin.last.resolve('value')
    await settle(fleet)
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['value']))
    expect(origin.count).toBe(1)
    expect(fleet.runtime.pendingTimers).toBe(0)
  })

  it('report where the value came from', async () => {
    const fleet = createFleet()
    const origin = new Origin()
    const leader = fleet.caches[0].lookup('k', origin.loader)
    const follower = fleet.caches[1].lookup('k', origin.loader)
    await settle(fleet)
    await fleet.runtime.advance(70)
    origin.last.resolve('value')
    expect(await leader).toMatchObject({
      status: 'loaded',
      from: 'load',
      role: 'leader',
      waited: 70,
      outcome: { kind: 'committed' },
    })
    expect(await follower).toMatchObject({
      status: 'fresh',
      from: 'store',
      role: 'follower',
      waited: 70,
      freshFor: 10_000,
    })
  })

  it('find the value by polling when the notice is lost', async () => {
    const fleet = createFleet()
    const origin = new Origin()
    const leader = fleet.caches[0].getOrSet('k', origin.loader)
    const follower = fleet.caches[1].getOrSet('k', origin.loader)
    await settle(fleet)
    const events = trace(fleet.caches[1], 'wake')
    fleet.muted = true
    origin.last.resolve('value')
    expect(await leader).toBe('value')
    await fleet.runtime.advance(501)
    expect(await follower).toBe('value')
    expect(events).toEqual(['wake'])
  })

  it('wait no longer than waitTimeout over all re-elections, and then reject', async () => {
    const fleet = createFleet({ waitTimeout: '3s' })
    const hold = () => fleet.store.acquire('k', { duration: 2000, seen: '', wake: false })
    await hold()
    const follower = fleet.caches[0].getOrSet('k', () => 'never')
    const expected = rejection(follower)
    await fleet.runtime.advance(1999)
    fleet.caches[0].on('wake', () => void hold())
    await fleet.runtime.advance(1002)
    expect(await expected).toMatchObject({ code: 'CATTLEGRID_WAIT_TIMEOUT' })
    expect(fleet.runtime.pendingTimers).toBe(0)
  })

  it('give up exactly at waitTimeout, not at the next poll', async () => {
    const fleet = createFleet({ waitTimeout: '700ms' })
    await fleet.store.acquire('k', { duration: 5000, seen: '', wake: false })
    let ended = false
    const expected = rejection(fleet.caches[0].getOrSet('k', () => 'never').finally(() => (ended = true)))
    await fleet.runtime.advance(699)
    expect(ended).toBe(false)
    await fleet.runtime.advance(2)
    expect(ended).toBe(true)
    expect(await expected).toMatchObject({ code: 'CATTLEGRID_WAIT_TIMEOUT' })
  })

  it('do not count the time of a load of their own as waiting', async () => {
    const fleet = createFleet({ waitTimeout: '1s', loadTimeout: '1m' })
    const origin = new Origin()
    const call = fleet.caches[0].getOrSet('k', origin.loader)
    await fleet.runtime.advance(20_000)
    origin.last.resolve('slow')
    expect(await call).toBe('slow')
  })

  it('start no load for a flight without callers', async () => {
    const fleet = createFleet()
    const hold = await fleet.store.acquire('k', { duration: 2000, seen: '', wake: false })
    const leaving = new AbortController()
    const origin = new Origin()
    const call = fleet.caches[0].getOrSet('k', origin.loader, { signal: leaving.signal })
    await settle(fleet)
    leaving.abort(new Error('gone'))
    await expect(call).rejects.toThrow('gone')
    if (hold.kind === 'lead') await fleet.store.release(hold.lease, { kind: 'handover' })
    await fleet.runtime.advance(5000)
    expect(origin.count).toBe(0)
    expect(fleet.runtime.pendingTimers).toBe(0)
  })

  it('use a value that was committed between their read and their acquire', async () => {
    const fleet = createFleet()
    const { acquire } = fleet.store
    fleet.store.acquire = async (...args) => {
      fleet.store.acquire = acquire
      await fleet.caches[1].set('k', 'meanwhile')
      return acquire.apply(fleet.store, args)
    }
    expect(await fleet.caches[0].getOrSet('k', () => 'mine')).toBe('meanwhile')
  })
})
