import { beforeEach, describe, expect, it, jest } from '@jest/globals'
import { type Cache, createCache } from '@cattlegrid/core'
import type { ManualRuntime } from '@cattlegrid/testkit'
import { createFleet, Origin, settle } from './fleet.ts'
import { memoryCache, never } from './memory-cache.ts'
import { Remote } from './remote.ts'

let runtime: ManualRuntime
let cache: Cache

beforeEach(() => {
  ;({ runtime, cache } = memoryCache())
})

describe('a paused cache', () => {
  it('serves no stored value, and stores none', async () => {
    await cache.set('k', 'stored')
    cache.pause()
    expect(cache.paused).toBe(true)
    expect([cache.peek('k'), await cache.get('k', { stale: true }), await cache.read('k')]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    expect(await cache.getMany(['k'])).toEqual(new Map())
    expect(await cache.lookup('k', () => 'loaded')).toMatchObject({ value: 'loaded', role: 'leader', freshFor: 0 })
    expect(await cache.refresh('k', () => 'again')).toBe('again')
    cache.resume()
    expect(await cache.getOrSet('k', never)).toBe('stored')
  })

  it('calls the loader of every caller, inside maxLoads', async () => {
    const bounded = createCache({ runtime, ttl: '1m', maxLoads: 2 })
    bounded.pause()
    let running = 0
    let most = 0
    const loader = jest.fn(async () => {
      running += 1
      most = Math.max(most, running)
      await Promise.resolve()
      running -= 1
      return 'value'
    })
    await Promise.all(Array.from({ length: 6 }, () => bounded.getOrSet('k', loader)))
    expect([loader.mock.calls.length, most]).toEqual([6, 2])
  })

  it('calls one loader for many keys, of which none is stored', async () => {
    await cache.set('a', 'stored')
    cache.pause()
    const loader = jest.fn((keys: readonly string[]) => new Map(keys.map((key) => [key, `${key} loaded`])))
    expect([...(await cache.getOrSetMany(['a', 'b'], loader)).values()]).toEqual(['a loaded', 'b loaded'])
    expect(loader).toHaveBeenCalledTimes(1)
    cache.resume()
    expect(await cache.getMany(['a', 'b'])).toEqual(new Map([['a', 'stored']]))
  })

  it('still refuses a loader that asks for its own key', async () => {
    cache.pause()
    const call = cache.getOrSet('k', () => cache.getOrSet('k', () => 'inner'))
    await expect(call).rejects.toMatchObject({ code: 'CATTLEGRID_REENTRANT' })
  })

  it('still invalidates, so that no old value comes back when it resumes', async () => {
    await cache.set('k', 'old')
    cache.pause()
    await cache.delete('k')
    cache.resume()
    expect(await cache.getOrSet('k', () => 'new')).toBe('new')
  })

  it('is paused for all of its views', async () => {
    const view = cache.with({ ttl: '1h' })
    await cache.set('k', 'stored')
    view.pause()
    expect(cache.peek('k')).toBeUndefined()
    cache.resume()
    expect(view.paused).toBe(false)
    expect(view.peek('k')).toMatchObject({ value: 'stored' })
  })
})

describe('a cache that is paused', () => {
  it('during a load gives the value to its callers, and does not store it', async () => {
    const fleet = createFleet()
    const [paused, other] = fleet.caches
    const origin = new Origin()
    const call = paused.lookup('k', origin.loader)
    await settle(fleet)
    paused.pause()
    origin.last.resolve('unstored')
    expect(await call).toMatchObject({
      value: 'unstored',
      freshFor: 0,
      outcome: { kind: 'abandoned', why: 'unleased' },
    })
    expect(await other.getOrSet('k', () => 'next')).toBe('next')
  })

  it('during a wait for another process serves the follower nothing that was stored', async () => {
    const fleet = createFleet({ staleIfError: '1h', softTimeout: '1s' })
    const [leading, paused] = fleet.caches
    const origin = new Origin()
    const led = leading.getOrSet('k', origin.loader)
    await settle(fleet)
    const follower = paused.lookup('k', () => 'own')
    await settle(fleet)
    paused.pause()
    origin.last.resolve('stored')
    await led
    await settle(fleet)
    expect(await follower).toMatchObject({ value: 'own', status: 'loaded', role: 'leader' })
  })

  it('while a stale value is in hand serves that neither at softTimeout nor for a failed load', async () => {
    const fleet = createFleet({ ttl: '1s', staleIfError: '1h', softTimeout: '1s' })
    const [paused] = fleet.caches
    await paused.set('k', 'stored')
    await fleet.runtime.advance(1500)
    const origin = new Origin()
    const slow = paused.getOrSet('k', origin.loader)
    await settle(fleet)
    paused.pause()
    await fleet.runtime.advance(1000)
    origin.last.resolve('own')
    expect(await slow).toBe('own')
  })

  it('during a read of the store serves nothing of it', async () => {
    const remote = new Remote()
    const remotely = remote.join()
    await remotely.set('k', 'stored')
    remote.delays.read = 10
    const calls = [remotely.get('k'), remotely.getMany(['k']), remotely.has('k'), remotely.getOrSet('k', () => 'own')]
    await remote.runtime.advance(5)
    remotely.pause()
    await remote.runtime.advance(10)
    expect(await Promise.all(calls)).toEqual([undefined, new Map(), false, 'own'])
  })
})
