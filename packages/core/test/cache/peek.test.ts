import { beforeEach, describe, expect, it } from '@jest/globals'
import { type Cache, structured } from '@cattlegrid/core'
import type { ManualRuntime } from '@cattlegrid/testkit'
import { memoryCache, never } from '../support/memory-cache.ts'
import { Remote } from '../support/remote.ts'

let runtime: ManualRuntime
let cache: Cache

beforeEach(() => {
  ;({ runtime, cache } = memoryCache())
})

describe('a peek', () => {
  it('returns a fresh value of this process synchronously', async () => {
    await cache.set('k', 'value')
    await runtime.advance(1000)
    expect(cache.peek('k')).toEqual({ value: 'value', state: 'fresh', age: 1000, freshFor: 59_000 })
    expect(cache.peek('other')).toBeUndefined()
  })

  it('distinguishes a stored undefined from a miss', async () => {
    await cache.set('k', undefined)
    expect(cache.peek('k')).toMatchObject({ value: undefined, state: 'fresh' })
  })

  it('finds no stale value, and none whose early refresh is due', async () => {
    await cache.set('k', 'value', { staleWhileRevalidate: '1m' })
    await runtime.advance(50_000)
    const view = cache.with({ earlyRefresh: { before: '15s' } })
    expect([view.peek('k'), await view.get('k')]).toEqual([undefined, 'value'])
    expect(cache.peek('k')).toMatchObject({ value: 'value' })
    await runtime.advance(10_000)
    expect(cache.peek('k')).toBeUndefined()
  })

  it('asks no shared store, and finds what the near cache has', async () => {
    const remote = new Remote()
    const near = remote.join({ near: {}, ttl: '1m' })
    await near.set('k', 'value')
    expect(near.peek('k')).toBeUndefined()
    expect(remote.asked['read'] ?? 0).toBe(0)
    await near.get('k')
    expect(near.peek('k')).toMatchObject({ value: 'value' })
    expect(near.with({ near: false }).peek('k')).toBeUndefined()
  })

  it('shows no negative age when the coarse clock is behind the commit', async () => {
    await cache.set('k', 'value')
    Object.assign(runtime, { coarseNow: () => runtime.now() - 5 })
    expect(cache.peek('k')).toMatchObject({ age: 0 })
  })

  it('emits a hit', async () => {
    await cache.set('k', 'value')
    const hits: unknown[] = []
    cache.on('hit', (event) => hits.push(event))
    cache.peek('k')
    cache.peek('other')
    expect(hits).toEqual([
      {
        key: 'k',
        status: 'fresh',
        from: 'store',
        age: 0,
        freshFor: 60_000,
        size: expect.any(Number),
        type: 'hit',
        cache: 'default',
      },
    ])
  })

  it('throws for an invalid key, an invalid option, and a closed cache', async () => {
    expect(() => cache.peek(7 as never)).toThrow(/string/)
    expect(() => cache.peek('k', { codek: structured } as never)).toThrow(/peek\.codek/)
    await cache.close()
    expect(() => cache.peek('k')).toThrow(/closed/)
  })
})

describe('hits of an entry in memory', () => {
  it('all return one promise, until the key has another value', async () => {
    await cache.set('k', 'first')
    const hits = [cache.getOrSet('k', never), cache.getOrSet('k', never), cache.get('k')]
    expect(new Set(hits).size).toBe(1)
    await cache.set('k', 'second')
    expect(await Promise.all([...hits, cache.getOrSet('k', never)])).toEqual(['first', 'first', 'first', 'second'])
  })

  it('may be any value, undefined too', async () => {
    await cache.set('k', undefined)
    expect([await cache.getOrSet('k', never), await cache.getOrSet('k', never)]).toEqual([undefined, undefined])
  })
})
