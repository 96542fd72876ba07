import { beforeEach, describe, expect, it, jest } from '@jest/globals'
import { type Cache, structured } from '@cattlegrid/core'
import type { ManualRuntime } from '@cattlegrid/testkit'
import { memoryCache, never } from '../support/memory-cache.ts'
import { Remote } from '../support/remote.ts'

let runtime: ManualRuntime
let cache: Cache

beforeEach(() => {
  ;({ runtime, cache } = memoryCache())
})

describe('a view of a cache', () => {
  it('starts its calls from its own options, and shares every entry', async () => {
    const products = cache.with({ ttl: '1h', tags: ['product'] })
    await products.getOrSet('k', () => 'value')
    expect(await cache.read('k')).toMatchObject({ value: 'value', freshFor: 3_600_000 })
    await cache.invalidateTags(['product'])
    expect(await cache.get('k')).toBeUndefined()
  })

  it('leaves the cache that it was made from as it was', async () => {
    cache.with({ ttl: '1h' })
    await cache.getOrSet('k', () => 'value')
    expect(await cache.read('k')).toMatchObject({ freshFor: 60_000 })
  })

  it('gives way to the options of a call, and keeps what the call leaves out', async () => {
    const strict = cache.with({ ttl: '1h', staleWhileRevalidate: false, maxAge: '10s' })
    await cache.set('k', 'old', { ttl: '1s', staleWhileRevalidate: '1m' })
    await runtime.advance(5000)
    expect(await strict.getOrSet('k', () => 'new', { jitter: 0 })).toBe('new')
    await runtime.advance(11_000)
    expect(await strict.getOrSet('k', () => 'newer', { jitter: 0 })).toBe('newer')
    await runtime.advance(11_000)
    expect(await strict.getOrSet('k', never, { maxAge: '1m' })).toBe('newer')
  })

  it('names the cache that it is a view of, also where it is a view of a view', () => {
    const view = cache.with({ ttl: '1h' })
    expect([cache.root, view.root, view.with({ ttl: '2h' }).root].every((root) => root === cache)).toBe(true)
  })

  it('may be made of a view', async () => {
    const inner = cache.with({ ttl: '1h' }).with({ tags: ['t'] })
    await inner.getOrSet('k', () => 'value')
    expect(await cache.read('k')).toMatchObject({ freshFor: 3_600_000 })
    await cache.invalidateTags(['t'])
    expect(await inner.get('k')).toBeUndefined()
  })

  it('decodes and writes by its own codec', async () => {
    const remote = new Remote()
    const dates = remote.join({}).with({ codec: structured, ttl: '1m' })
    await dates.set('k', new Map([[1, 2]]))
    expect(await dates.get('k')).toEqual(new Map([[1, 2]]))
  })

  it('has the runtime of its cache', () => {
    expect([cache.runtime, cache.with({ ttl: '1h' }).runtime]).toEqual([runtime, runtime])
  })

  it('joins the loads of the others, and is closed with them', async () => {
    const view = cache.with({ ttl: '1h' })
    const loader = jest.fn(async () => 'value')
    expect(await Promise.all([cache.getOrSet('k', loader), view.getOrSet('k', loader)])).toEqual(['value', 'value'])
    expect(loader).toHaveBeenCalledTimes(1)
    await view.close()
    await expect(cache.get('k')).rejects.toMatchObject({ code: 'CATTLEGRID_CLOSED' })
  })

  it('is refused where its options are wrong, with the name of the option', () => {
    expect(() => cache.with({ ttl: '1 parsec' as never })).toThrow(/with\.ttl/)
    expect(() => cache.with({ tll: '1m' } as never)).toThrow(/did you mean 'ttl'/)
  })
})
