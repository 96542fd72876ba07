import { type Cache, createCache, memoryStore } from '@cattlegrid/core'
import type { Acquire } from '@cattlegrid/core/extend'
import { createManualRuntime } from '@cattlegrid/testkit'
import { describe, expect, it } from '@jest/globals'
import { createFleet, holdBack, Origin, settle, rejection } from '../support/fleet.ts'
import { never } from '../support/memory-cache.ts'
import { Remote } from '../support/remote.ts'

describe('close', () => {
  it('rejects new calls, and lets running loads end and commit', async () => {
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

  it('waits for a load that a running load started', async () => {
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

  it('aborts loads that outlast the drain, and releases their leases', async () => {
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
  ])('waits for the store to confirm the release of the lease of a load that %s', async (_, drain) => {
    const remote = new Remote()
    const { runtime } = remote
    const cache = remote.join({ ttl: '1h', storeTimeout: '1s' })
    const origin = new Origin()
    const expected = rejection(cache.getOrSet('k', origin.loader))
    await runtime.advance(0)
    remote.delays.release = 500
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

  it('starts no load for a call whose read ends later', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const read = holdBack(fleet, 'read')
    const origin = new Origin()
    const call = rejection(cache.getOrSet('k', origin.loader))
    await settle(fleet)
    await cache.close({ drain: 0 })
    read.letGo()
    expect(await call).toMatchObject({ code: 'CATTLEGRID_CLOSED' })
    expect(origin.count).toBe(0)
  })

  it('answers calls whose reads its store ends with an error, as a client does that is closed', async () => {
    const runtime = createManualRuntime()
    const cut: ((error: Error) => void)[] = []
    const store = Object.assign(memoryStore({ runtime }), {
      shared: true,
      peek: () => undefined,
      read: () => new Promise<never>((_, reject) => cut.push(reject)),
      close: () => {
        for (const reject of cut) reject(new Error('The client is closed'))
        return Promise.resolve()
      },
    })
    const cache = createCache({ store, runtime, ttl: '1m' })
    const load = rejection(cache.getOrSet('k', never))
    const many = rejection(cache.getOrSetMany(['a', 'b'], never))
    const get = cache.get('k')
    await runtime.advance(0)
    const closed = cache.close()
    await runtime.advance(1)
    await closed
    expect(await load).toMatchObject({ code: 'CATTLEGRID_CLOSED' })
    expect(await many).toMatchObject({ code: 'CATTLEGRID_CLOSED' })
    expect(await get).toBeUndefined()
  })

  it('starts no refresh for a stale value whose read ends later', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m' })
    const [cache] = fleet.caches
    await cache.set('k', 'stale')
    await fleet.runtime.advance(10_001)
    const read = holdBack(fleet, 'read')
    const origin = new Origin()
    const call = cache.lookup('k', origin.loader)
    await settle(fleet)
    await cache.close({ drain: 0 })
    read.letGo()
    expect(await call).toMatchObject({ value: 'stale', refresh: undefined })
    expect(origin.count).toBe(0)
  })

  it.each<Acquire>([
    { kind: 'held-off', remaining: 1000 },
    { kind: 'uncacheable', remaining: 1000, share: true },
    { kind: 'away', why: 'error', cause: new Error('reset') },
  ])('starts no load when the store answers $kind later', async (answer) => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    fleet.store.acquire = () => Promise.resolve(answer)
    const acquire = holdBack(fleet, 'acquire')
    const origin = new Origin()
    const call = rejection(cache.getOrSet('k', origin.loader))
    await settle(fleet)
    const closed = cache.close({ drain: 0 })
    await fleet.runtime.advance(1)
    acquire.letGo()
    expect(await call).toMatchObject({ code: 'CATTLEGRID_CLOSED' })
    await closed
    expect(origin.count).toBe(0)
  })
})

describe('a closed cache', () => {
  it.each<readonly [string, (cache: Cache) => Promise<unknown>]>([
    ['set', (cache) => cache.set('k', 1)],
    ['delete', (cache) => cache.delete('k')],
    ['expire', (cache) => cache.expire('k')],
    ['invalidateTags', (cache) => cache.invalidateTags(['t'])],
    ['clear', (cache) => cache.clear()],
    ['get', (cache) => cache.get('k')],
    ['getMany', (cache) => cache.getMany(['k'])],
    ['getOrSetMany', (cache) => cache.getOrSetMany(['k'], () => new Map())],
    ['inspect', (cache) => cache.inspect('k')],
    ['refresh', (cache) => cache.refresh('k', () => 1)],
  ])('rejects %s', async (_, call) => {
    const [cache] = createFleet().caches
    await cache.close()
    expect(await rejection(call(cache))).toMatchObject({ code: 'CATTLEGRID_CLOSED' })
  })

  it('unsubscribes from the store', async () => {
    const { store, runtime } = createFleet()
    let listeners = 0
    store.watch = () => {
      listeners += 1
      return () => {
        listeners -= 1
      }
    }
    const cache = createCache({ store, runtime })
    expect(listeners).toBe(1)
    await cache.close()
    expect(listeners).toBe(0)
  })
})

describe('a close during a background refresh', () => {
  it('waits until the store has the permit of refreshBudget back', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1h', refreshBudget: { atOnce: 1 } })
    const [cache] = fleet.caches
    await cache.set('k', 'old')
    await fleet.runtime.advance(11_000)
    const origin = new Origin()
    expect(await cache.getOrSet('k', origin.loader)).toBe('old')
    await settle(fleet)
    let ended = false
    fleet.store.endRefresh = async () => {
      await new Promise<void>((resolve) => void fleet.runtime.schedule(resolve, 100))
      ended = true
      return { kind: 'done' }
    }
    const closing = cache.close().then(() => ended)
    origin.last.resolve('new')
    await fleet.runtime.advance(1000)
    expect(await closing).toBe(true)
  })

  it('waits until the store has a permit back that it granted after a caller came first', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1h', refreshBudget: { atOnce: 1 } })
    const [cache] = fleet.caches
    await cache.set('k', 'old')
    await fleet.runtime.advance(11_000)
    let ended = false
    fleet.store.permitRefresh = async () => {
      await new Promise<void>((resolve) => void fleet.runtime.schedule(resolve, 100))
      return { kind: 'granted' }
    }
    fleet.store.endRefresh = () => {
      ended = true
      return Promise.resolve({ kind: 'done' })
    }
    expect(await cache.getOrSet('k', () => 'new')).toBe('old')
    const strict = cache.getOrSet('k', () => 'new', { staleWhileRevalidate: false })
    await settle(fleet)
    expect([await strict, ended]).toEqual(['new', false])
    const closing = cache.close().then(() => ended)
    await fleet.runtime.advance(1000)
    expect(await closing).toBe(true)
  })
})
