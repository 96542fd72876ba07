import { beforeEach, describe, expect, it, jest } from '@jest/globals'
import { type Cache, createCache } from '@cattlegrid/core'
import type { ManualRuntime } from '@cattlegrid/testkit'
import { memoryCache, never } from './memory-cache.ts'

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
