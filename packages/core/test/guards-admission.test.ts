import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, expect, it, jest } from '@jest/globals'
import type { ManyLoad } from '@cattlegrid/core'
import { AdmissionControl } from '../src/flight/admission-control.ts'
import { createFleet, Origin, rejection, settle } from './fleet.ts'

const keysOf = ({ loads }: Origin): string[] => loads.map(({ load }) => load.key)

describe('a turn to load', () => {
  it('is given back once, however it ends: no more than maxLoads run after a load of many kinds of ending', async () => {
    const fleet = createFleet({ maxLoads: 1 })
    const [cache] = fleet.caches
    await cache.getOrSet('fails', () => Promise.reject(new Error('down'))).catch(() => 'failed')
    await cache.getOrSet('alone', (load) => load.uncacheable({ share: false }))
    const followed = await fleet.store.acquire('led', { duration: 100, seen: '', wake: false, tags: false })
    expect(followed.kind).toBe('lead')
    const follower = cache.getOrSet('led', () => 'taken over')
    await fleet.runtime.advance(200)
    expect(await follower).toBe('taken over')
    const origin = new Origin()
    const calls = ['a', 'b', 'c'].map((key) => cache.getOrSet(key, origin.loader))
    await settle(fleet)
    expect(keysOf(origin)).toEqual(['a'])
    for (let next = 0; next < 3; next += 1) {
      origin.loads[next]?.resolve(next)
      await settle(fleet)
    }
    expect(await Promise.all(calls)).toEqual([0, 1, 2])
  })

  it('does not go to who waits while more loads run than maxLoads, because loads began inside a load', async () => {
    const fleet = createFleet({ maxLoads: 1 })
    const [cache] = fleet.caches
    const origin = new Origin()
    const outer = cache.getOrSet('outer', async (load) => {
      await cache.getOrSet('inner', origin.loader)
      return origin.loader(load)
    })
    await settle(fleet)
    const waiting = cache.getOrSet('waiting', origin.loader)
    await settle(fleet)
    origin.last.resolve('inner')
    await settle(fleet)
    expect(keysOf(origin)).toEqual(['inner', 'outer'])
    origin.last.resolve('outer')
    await settle(fleet)
    expect(keysOf(origin)).toEqual(['inner', 'outer', 'waiting'])
    origin.last.resolve('waited')
    expect(await Promise.all([outer, waiting])).toEqual(['outer', 'waited'])
  })

  it('is not lost on a caller that has left the queue', async () => {
    const fleet = createFleet({ maxLoads: 1 })
    const [cache] = fleet.caches
    const origin = new Origin()
    const running = cache.getOrSet('running', origin.loader)
    await settle(fleet)
    const leaving = new AbortController()
    const left = cache.getOrSet('left', origin.loader, { signal: leaving.signal }).catch(() => 'left')
    await settle(fleet)
    leaving.abort()
    expect(await left).toBe('left')
    const asked: string[] = []
    const { acquire } = fleet.store
    fleet.store.acquire = (key, request) => {
      asked.push(key)
      return acquire.call(fleet.store, key, request)
    }
    const next = cache.getOrSet('next', origin.loader)
    origin.last.resolve('done')
    await settle(fleet)
    expect(keysOf(origin)).toEqual(['running', 'next'])
    expect(asked).toEqual(['next'])
    origin.last.resolve('also done')
    expect(await Promise.all([running, next])).toEqual(['done', 'also done'])
  })

  it('is not kept by a flight that follows: others can load meanwhile', async () => {
    const fleet = createFleet({ maxLoads: 1 })
    const [cache] = fleet.caches
    await fleet.store.acquire('led', { duration: 5000, seen: '', wake: false, tags: false })
    const follower = cache.getOrSet('led', () => 'taken over')
    await settle(fleet)
    const other = cache.getOrSet('other', () => 'loaded meanwhile')
    await settle(fleet)
    expect(await Promise.race([other, Promise.resolve('waiting')])).toBe('loaded meanwhile')
    await fleet.runtime.advance(5010)
    expect(await follower).toBe('taken over')
  })
})

describe('the storage that knows what runs inside of what', () => {
  it('is off while nothing loads: as long as it is on, it costs every promise of the process', async () => {
    const off = jest.spyOn(AsyncLocalStorage.prototype, 'disable')
    const [cache] = createFleet().caches
    const origins = [new Origin(), new Origin()] as const
    const calls = Promise.all(origins.map((origin, index) => cache.getOrSet(`k${index}`, origin.loader)))
    await new Promise(setImmediate)
    origins[0].last.resolve(1)
    await new Promise(setImmediate)
    expect(off).not.toHaveBeenCalled()
    origins[1].last.resolve(2)
    await calls
    await new Promise(setImmediate)
    expect(off).toHaveBeenCalledTimes(1)
    off.mockRestore()
  })
})

describe('a turn that is given back twice', () => {
  it('makes room for one load, not for two', () => {
    const admission = new AdmissionControl({ maxLoads: 2, maxWaiters: 1, maxWaitersPerKey: 1 })
    const [first, second] = [admission.tryAcquirePermit(), admission.tryAcquirePermit()]
    expect(second).toBeDefined()
    first?.()
    first?.()
    expect([admission.tryAcquirePermit(), admission.tryAcquirePermit()].map((turn) => turn !== undefined)).toEqual([
      true,
      false,
    ])
  })
})

describe('a batch', () => {
  it('is refused when its loader asks for any of its keys, not only for the last', async () => {
    const [cache] = createFleet().caches
    const call = cache.getOrSetMany(['a', 'b'], () => cache.getOrSet('a', () => new Map()))
    expect(await rejection(call)).toMatchObject({ code: 'CATTLEGRID_REENTRANT' })
  })
})

describe('the signal of a batch', () => {
  it('aborts when all of its loads are over, and not for the first of them', async () => {
    const fleet = createFleet({ loadTimeout: '2s' })
    const { acquire } = fleet.store
    fleet.store.acquire = async (key, request) => {
      if (key === 'late') await new Promise<void>((resolve) => fleet.runtime.schedule(resolve, 500))
      return acquire.call(fleet.store, key, request)
    }
    const signals: AbortSignal[] = []
    const call = fleet.caches[0].getOrSetMany(['early', 'late'], (_, load: ManyLoad) => {
      signals.push(load.signal)
      return new Promise<Map<string, string>>(() => {})
    })
    const expected = rejection(call)
    await fleet.runtime.advance(2400)
    expect(signals.map(({ aborted }) => aborted)).toEqual([false])
    await fleet.runtime.advance(100)
    expect(signals[0]?.reason).toMatchObject({ code: 'CATTLEGRID_LOAD_TIMEOUT' })
    expect(await expected).toMatchObject({ code: 'CATTLEGRID_LOAD_TIMEOUT' })
  })
})
