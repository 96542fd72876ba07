import { describe, expect, it } from '@jest/globals'
import { json, memoryStore } from '@cattlegrid/core'
import { createManualRuntime } from '@cattlegrid/testkit'
import { memoryCache, never } from '../support/memory-cache.ts'

const CENTURY = 100 * 365 * 86_400_000

describe('an entry with ttl: Infinity', () => {
  it('is fresh until it is invalidated', async () => {
    const { cache, runtime } = memoryCache()
    await cache.getOrSet('k', () => 'value', { ttl: Infinity, jitter: 0.5, tags: ['t'] })
    await cache.getOrSet('kept', ({ keep }) => (keep({ ttl: Infinity }), 'value'))
    await cache.set('set', 'value', { ttl: Infinity })
    await runtime.advance(CENTURY)
    const keys = ['k', 'kept', 'set']
    expect(await Promise.all(keys.map((key) => cache.getOrSet(key, never)))).toEqual(keys.map(() => 'value'))
    await cache.invalidateTags(['t'])
    await cache.delete('set')
    expect([await cache.get('k'), await cache.get('set')]).toEqual([undefined, undefined])
  })

  it('has times that are numbers to calculate with', async () => {
    const { cache } = memoryCache()
    const { freshFor } = await cache.lookup('k', () => 'value', { ttl: Infinity })
    expect([freshFor, (await cache.read('k'))?.freshFor]).toEqual([2 ** 47, 2 ** 47])
    expect(JSON.parse(JSON.stringify(await cache.inspect('k')))).toMatchObject({ freshFor: 2 ** 47 })
  })

  it('is stale once it is expired by hand', async () => {
    const { cache } = memoryCache()
    await cache.set('k', 'value', { ttl: Infinity, staleIfError: '1h' })
    await cache.expire('k')
    expect(await cache.read('k')).toMatchObject({ value: 'value', state: 'stale' })
  })

  it('may be given to a store without limit', async () => {
    const store = memoryStore({ runtime: createManualRuntime() })
    const windows = { staleWhileRevalidate: 0, staleIfError: 0 }
    await store.put('k', { value: 1, ttl: Infinity, loadTime: 0, tags: [], ...windows }, json)
    expect(await store.read('k', json)).toMatchObject({ kind: 'found', entry: { freshUntil: Infinity } })
  })
})
