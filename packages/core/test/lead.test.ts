import { describe, expect, it } from '@jest/globals'
import { createFleet, Origin, settle, trace, rejection } from './fleet.ts'

describe('a leader', () => {
  it('keeps its lease alive for as long as its loader runs', async () => {
    const fleet = createFleet({ lease: { duration: '3s' }, loadTimeout: '1m' })
    const origin = new Origin()
    const leader = fleet.caches[0].lookup('k', origin.loader)
    await fleet.runtime.advance(20_000)
    const other = await fleet.store.acquire('k', { duration: 1000, seen: '', wake: false, tags: false })
    expect(other.kind).toBe('held')
    origin.last.resolve('late')
    expect(await leader).toMatchObject({ value: 'late', outcome: { kind: 'committed' } })
  })

  it('loses the lease at maxHold, however long its loader runs', async () => {
    const fleet = createFleet({ lease: { duration: '3s', maxHold: '6s' }, loadTimeout: '1m' })
    const origin = new Origin()
    const hung = fleet.caches[0].lookup('k', origin.loader)
    await fleet.runtime.advance(5900)
    expect(await fleet.store.acquire('k', { duration: 1000, seen: '', wake: false, tags: false })).toMatchObject({
      kind: 'held',
    })
    await fleet.runtime.advance(200)
    expect(await fleet.store.acquire('k', { duration: 1000, seen: '', wake: false, tags: false })).toMatchObject({
      kind: 'lead',
    })
    origin.last.resolve('too late')
    expect(await hung).toMatchObject({ value: 'too late', outcome: { kind: 'refused', why: 'taken' } })
  })

  it('ends with a failure at loadTimeout, aborts its loader and hands the lease back', async () => {
    const fleet = createFleet({ loadTimeout: '2s', failureCooldown: { min: '100ms' } })
    const origin = new Origin()
    const call = fleet.caches[0].getOrSet('k', origin.loader)
    const expected = rejection(call)
    await fleet.runtime.advance(2000)
    expect(await expected).toMatchObject({ code: 'CATTLEGRID_LOAD_TIMEOUT' })
    expect(origin.last.load.signal.reason).toMatchObject({ code: 'CATTLEGRID_LOAD_TIMEOUT' })
    await fleet.runtime.advance(101)
    expect(await fleet.caches[1].getOrSet('k', () => 'next')).toBe('next')
  })

  it('that was paused past its lease cannot overwrite what the next leader wrote', async () => {
    const fleet = createFleet({ lease: { duration: '2s' } })
    const paused = new Origin()
    const old = fleet.caches[0].lookup('k', paused.loader)
    await settle(fleet)
    fleet.store.renew = () => new Promise(() => {})
    await fleet.runtime.advance(2001)
    expect(await fleet.caches[1].getOrSet('k', () => 'new')).toBe('new')
    paused.last.resolve('old')
    expect(await old).toMatchObject({ value: 'old', outcome: { kind: 'refused' } })
    expect(await fleet.caches[2].get('k')).toBe('new')
  })

  it('has its loader aborted when the lease is lost and nobody waits, but not while somebody does', async () => {
    const fleet = createFleet({ lease: { duration: '3s' }, staleWhileRevalidate: '1m' })
    const [cache] = fleet.caches
    await cache.set('behind', 'stale')
    await fleet.runtime.advance(10_001)
    const behind = new Origin()
    const waited = new Origin()
    await cache.getOrSet('behind', behind.loader)
    const call = cache.getOrSet('waited', waited.loader)
    await settle(fleet)
    await fleet.caches[1].delete('behind')
    await fleet.caches[1].delete('waited')
    await fleet.runtime.advance(1000)
    expect(behind.last.load.signal.reason).toMatchObject({ code: 'CATTLEGRID_LEASE_LOST' })
    expect(waited.last.load.signal.aborted).toBe(false)
    waited.last.resolve('innocent')
    expect(await call).toBe('innocent')
  })

  it('tells its own caller of the commit, and its other callers as soon as the loader has the value', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    fleet.store.commit = () => new Promise(() => {})
    const origin = new Origin()
    let told = false
    const leader = cache.lookup('k', origin.loader).then(() => (told = true))
    const joiner = cache.getOrSet('k', origin.loader)
    await settle(fleet)
    origin.last.resolve('value')
    expect(await joiner).toBe('value')
    await settle(fleet)
    expect(told).toBe(false)
    void leader
  })

  it('lets the result decide how long it is kept', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    await cache.getOrSet('k', (load) => {
      load.keep({ ttl: '1s', staleIfError: '5s' })
      return 'short'
    })
    expect(await cache.read('k')).toMatchObject({ state: 'fresh', freshFor: 1000 })
    await fleet.runtime.advance(5999)
    expect(await cache.read('k')).toMatchObject({ state: 'stale', freshFor: -4999 })
    await fleet.runtime.advance(2)
    expect(await cache.read('k')).toBeUndefined()
  })

  it('shortens ttl by the jitter, and by no more', async () => {
    const fleet = createFleet({ jitter: 0.5 })
    fleet.runtime.setRandom([0.999])
    const [cache] = fleet.caches
    await cache.getOrSet('k', () => 'value')
    const { freshFor } = (await cache.read('k')) ?? { freshFor: 0 }
    expect(freshFor).toBe(Math.floor(10_000 * (1 - 0.4995)))
  })

  it('gives a value that cannot be encoded to its callers and stores nothing', async () => {
    const fleet = createFleet()
    fleet.store.commit = () =>
      Promise.resolve({ kind: 'unkeepable', why: 'encode-failed', cause: new TypeError('cycle') })
    const [cache] = fleet.caches
    const events = trace(cache, 'encode-failed')
    expect(await cache.lookup('k', () => 'value')).toMatchObject({
      value: 'value',
      outcome: { kind: 'uncacheable', share: true },
    })
    expect(events).toEqual(['encode-failed'])
    expect(await cache.get('k')).toBeUndefined()
  })

  it('never counts a commit without an answer as stored', async () => {
    const fleet = createFleet()
    fleet.store.commit = () => Promise.resolve({ kind: 'away', why: 'error', cause: new Error('reset') })
    const [cache] = fleet.caches
    const events = trace(cache, 'commit', 'away')
    expect(await cache.lookup('k', () => 'value')).toMatchObject({
      value: 'value',
      outcome: { kind: 'abandoned', why: 'away' },
    })
    expect(events).toEqual(['away'])
  })
})
