import { createCache, memoryStore } from '@cattlegrid/core'
import { createManualRuntime, faultyStore } from '@cattlegrid/testkit'
import { describe, expect, it } from '@jest/globals'
import { createFleet, Origin, settle, rejection } from './fleet.ts'

describe('close', () => {
  it('refuses new calls and lets running loads end and commit', async () => {
    const fleet = createFleet()
    const [cache, other] = fleet.caches
    const origin = new Origin()
    const running = cache.getOrSet('k', origin.loader)
    await settle(fleet)
    const closed = cache.close()
    await expect(cache.getOrSet('k', () => 1)).rejects.toMatchObject({ code: 'CATTLEGRID_CLOSED' })
    origin.last.resolve('in time')
    expect(await running).toBe('in time')
    await closed
    expect(await other.get('k')).toBe('in time')
    expect(fleet.runtime.pendingTimers).toBe(0)
  })

  it('lets a load end that a running load began meanwhile', async () => {
    const fleet = createFleet()
    const [cache, other] = fleet.caches
    const [outer, inner] = [new Origin(), new Origin()]
    let asked: Promise<unknown> | undefined
    const running = cache.getOrSet('outer', async (load) => {
      await outer.loader(load)
      asked = cache.getOrSet('inner', inner.loader)
      return 'begun'
    })
    await settle(fleet)
    const closed = cache.close({ drain: '10s' })
    outer.last.resolve(undefined)
    expect(await running).toBe('begun')
    await settle(fleet)
    inner.last.resolve('in time')
    expect(await asked).toBe('in time')
    await closed
    expect(await other.get('inner')).toBe('in time')
  })

  it('aborts what has not ended within the drain, and hands its lease back', async () => {
    const fleet = createFleet()
    const [cache, other] = fleet.caches
    const origin = new Origin()
    const running = cache.getOrSet('k', origin.loader)
    const expected = rejection(running)
    await settle(fleet)
    let abandoned: number | undefined
    cache.on('close', (event) => (abandoned = event.abandoned))
    const closed = cache.close({ drain: '1s' })
    await fleet.runtime.advance(1000)
    expect(await expected).toMatchObject({ code: 'CATTLEGRID_CLOSED' })
    await closed
    expect(origin.last.load.signal.reason).toMatchObject({ code: 'CATTLEGRID_CLOSED' })
    expect(abandoned).toBe(1)
    expect(await other.getOrSet('k', () => 'next leader')).toBe('next leader')
  })

  it('ends the wait of followers too', async () => {
    const fleet = createFleet()
    const [cache, leader] = fleet.caches
    const origin = new Origin()
    void leader.getOrSet('k', origin.loader)
    const following = cache.getOrSet('k', origin.loader)
    const expected = rejection(following)
    await settle(fleet)
    const closed = cache.close({ drain: 0 })
    await fleet.runtime.advance(1)
    expect(await expected).toMatchObject({ code: 'CATTLEGRID_CLOSED' })
    await closed
  })

  it.each([
    ['was cut off', 0],
    ['failed in the drain', 10_000],
  ])('is not over before the store has answered that it has back the lease of a load that %s', async (_, drain) => {
    const runtime = createManualRuntime()
    const store = faultyStore(memoryStore({ runtime }), [], runtime)
    const cache = createCache({ store, runtime, ttl: '1h', storeTimeout: '1s' })
    const origin = new Origin()
    const expected = rejection(cache.getOrSet('k', origin.loader))
    await runtime.advance(0)
    store.inject({ kind: 'delayed', ms: 500, verbs: ['release'] })
    let closed = false
    const closing = cache.close({ drain }).then(() => (closed = true))
    if (drain > 0) origin.last.reject(new Error('no'))
    await runtime.advance(1)
    await expected
    await runtime.advance(400)
    expect(closed).toBe(false)
    await runtime.advance(200)
    expect(closed).toBe(true)
    await closing
  })

  it('may be called twice', async () => {
    const [cache] = createFleet().caches
    expect(await Promise.all([cache.close(), cache.close()])).toEqual([undefined, undefined])
  })
})
