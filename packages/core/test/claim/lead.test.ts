import { describe, expect, it } from '@jest/globals'
import type { Load } from '@cattlegrid/core'
import { createFleet, type Fleet, Origin, refuseNextCommit, rejection, settle, trace } from '../support/fleet.ts'

const elsewhere = (fleet: Fleet): Promise<{ readonly kind: string }> =>
  fleet.store.acquire('k', { duration: 1000, seen: '', wake: false })

describe('a leader', () => {
  it('keeps its lease alive for as long as its loader runs', async () => {
    const fleet = createFleet({ lease: { duration: '3s' }, loadTimeout: '1m' })
    const origin = new Origin()
    const leader = fleet.caches[0].lookup('k', origin.loader)
    await fleet.runtime.advance(20_000)
    const other = await fleet.store.acquire('k', { duration: 1000, seen: '', wake: false })
    expect(other.kind).toBe('held')
    origin.last.resolve('late')
    expect(await leader).toMatchObject({ value: 'late', outcome: { kind: 'committed' } })
  })

  it('loses the lease at maxHold, however long its loader runs', async () => {
    const fleet = createFleet({ lease: { duration: '3s', maxHold: '6s' }, loadTimeout: '1m' })
    const origin = new Origin()
    const hung = fleet.caches[0].lookup('k', origin.loader)
    await fleet.runtime.advance(5900)
    expect(await fleet.store.acquire('k', { duration: 1000, seen: '', wake: false })).toMatchObject({
      kind: 'held',
    })
    await fleet.runtime.advance(200)
    expect(await fleet.store.acquire('k', { duration: 1000, seen: '', wake: false })).toMatchObject({
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

  it('that was paused past its lease cannot overwrite the value of the next leader', async () => {
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

  it('has its loader aborted when the lease is lost, but only if no caller waits', async () => {
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

  it('delivers the value to callers at once, and the outcome to its own caller after the commit', async () => {
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

  it('lets the loader override how long the result is kept', async () => {
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

describe('the lease of a running load', () => {
  it('is renewed every third of its duration', async () => {
    const fleet = createFleet({ lease: { duration: '3s' } })
    const begin = fleet.runtime.now()
    const renewed: number[] = []
    fleet.caches[0].on('renew', () => renewed.push(fleet.runtime.now() - begin))
    const origin = new Origin()
    const call = fleet.caches[0].getOrSet('k', origin.loader)
    await fleet.runtime.advance(3500)
    expect(renewed).toEqual([1000, 2000, 3000])
    origin.last.resolve('value')
    await call
  })

  it('is renewed at the next third when the store did not answer a renewal', async () => {
    const fleet = createFleet({ lease: { duration: '3s' } })
    const { renew } = fleet.store
    fleet.store.renew = () => {
      fleet.store.renew = renew
      return Promise.resolve({ kind: 'away', why: 'deadline', cause: new Error('no answer') })
    }
    const origin = new Origin()
    const call = fleet.caches[0].lookup('k', origin.loader)
    await fleet.runtime.advance(4900)
    expect(await elsewhere(fleet)).toMatchObject({ kind: 'held' })
    origin.last.resolve('value')
    expect(await call).toMatchObject({ outcome: { kind: 'committed' } })
  })

  it('is not renewed after the load has ended, even if a renewal was in progress', async () => {
    const fleet = createFleet({ lease: { duration: '3s' } })
    let answer = (): void => {}
    fleet.store.renew = () => new Promise((resolve) => (answer = () => resolve({ kind: 'renewed' })))
    const origin = new Origin()
    const call = fleet.caches[0].getOrSet('k', origin.loader)
    await fleet.runtime.advance(1000)
    origin.last.resolve('value')
    await call
    answer()
    await settle(fleet)
    expect(fleet.runtime.pendingTimers).toBe(0)
  })

  it('ends at maxHold after its grant: the last renewal is shortened to what is left', async () => {
    const fleet = createFleet({ lease: { duration: '3s', maxHold: '4s' }, loadTimeout: '1m' })
    const origin = new Origin()
    const call = fleet.caches[0].getOrSet('k', origin.loader)
    await fleet.runtime.advance(3999)
    expect(await elsewhere(fleet)).toMatchObject({ kind: 'held' })
    await fleet.runtime.advance(1)
    expect(await elsewhere(fleet)).toMatchObject({ kind: 'lead' })
    origin.last.resolve('value')
    await call
  })

  it('is released when the store cannot keep the value', async () => {
    const fleet = createFleet()
    refuseNextCommit(fleet.store)
    const events = trace(fleet.caches[0], 'too-large', 'encode-failed')
    expect(await fleet.caches[0].lookup('k', () => 'huge')).toMatchObject({ value: 'huge' })
    expect(events).toEqual(['too-large'])
    expect(await fleet.caches[1].getOrSet('k', () => 'mine')).toBe('mine')
  })

  it('is not released by an uncacheable() after the load has ended', async () => {
    const fleet = createFleet()
    const { commit } = fleet.store
    let letGo = (): void => {}
    fleet.store.commit = async (...args) => {
      await new Promise<void>((resolve) => (letGo = resolve))
      return commit.apply(fleet.store, args)
    }
    let told: Load | undefined
    const call = fleet.caches[0].lookup('k', (load) => {
      told = load
      return 'value'
    })
    await settle(fleet)
    told?.uncacheable({ share: false })
    await settle(fleet)
    letGo()
    expect(await call).toMatchObject({ value: 'value', outcome: { kind: 'committed' } })
  })

  it('is not reported as lost after the loader called the result unshareable', async () => {
    const fleet = createFleet({ lease: { duration: '3s' } })
    const [cache] = fleet.caches
    const events = trace(cache, 'lease-lost', 'renew')
    const origin = new Origin()
    const call = cache.getOrSet('k', origin.loader)
    await settle(fleet)
    origin.last.load.uncacheable({ share: false })
    await fleet.runtime.advance(10_000)
    expect(events).toEqual([])
    origin.last.resolve('mine')
    expect(await call).toBe('mine')
  })
})

describe('a leader that ends its lease', () => {
  it('accepts no joiner while it releases an uncacheable key', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const { release } = fleet.store
    let letGo = (): void => {}
    fleet.store.release = async (...args) => {
      await new Promise<void>((resolve) => (letGo = resolve))
      return release.apply(fleet.store, args)
    }
    const first = cache.getOrSet('k', (load) => {
      load.uncacheable()
      return 'one'
    })
    await settle(fleet)
    const events = trace(cache, 'join')
    const second = cache.getOrSet('k', () => 'two')
    await settle(fleet)
    expect(events).toEqual([])
    letGo()
    expect(await first).toBe('one')
    expect(await second).toBe('two')
  })
})

describe('a loader', () => {
  it('gets no stale value that its caller refuses', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m', staleIfError: '1m' })
    await fleet.caches[0].set('k', 'stale')
    await fleet.runtime.advance(10_001)
    const origin = new Origin()
    const call = fleet.caches[0].getOrSet('k', origin.loader, { staleWhileRevalidate: false, staleIfError: false })
    await settle(fleet)
    expect(origin.last.load.stale).toBeUndefined()
    origin.last.resolve('new')
    await call
  })
})
