import { describe, expect, it } from '@jest/globals'
import type { Load } from '@cattlegrid/core'
import { createFleet, type Fleet, Origin, refuseNextCommit, settle, trace } from './fleet.ts'

const elsewhere = (fleet: Fleet): Promise<{ readonly kind: string }> =>
  fleet.store.acquire('k', { duration: 1000, seen: '', wake: false, tags: false })

describe('the lease of a running load', () => {
  it('is renewed at every third of its duration', async () => {
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

  it('is renewed at the next third when the store did not answer at one', async () => {
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

  it('is not renewed any more once the load is over, also when a renewal was on its way', async () => {
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

  it('counts maxHold from its grant: the last renewal is as short as what is left', async () => {
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

  it('ends with a value that cannot be kept: other processes need not wait for it to run out', async () => {
    const fleet = createFleet()
    refuseNextCommit(fleet.store)
    const events = trace(fleet.caches[0], 'too-large', 'encode-failed')
    expect(await fleet.caches[0].lookup('k', () => 'huge')).toMatchObject({ value: 'huge' })
    expect(events).toEqual(['too-large'])
    expect(await fleet.caches[1].getOrSet('k', () => 'mine')).toBe('mine')
  })

  it('is not lost by what a loader says after it has ended', async () => {
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
})

describe('a leader whose ending is on its way', () => {
  it('takes no joiner with an uncacheable result: an invalidation could lie between', async () => {
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
  it('is not told of a stale value that its caller does not want', async () => {
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
