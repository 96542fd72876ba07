import { describe, expect, it } from '@jest/globals'
import { createFleet, record } from '../support/fleet.ts'
import { memoryCache } from '../support/memory-cache.ts'
import { Remote } from '../support/remote.ts'

describe('has', () => {
  it('is true while a value is fresh, also for a stored undefined', async () => {
    const { cache, runtime } = memoryCache()
    expect(await cache.has('k')).toBe(false)
    await cache.set('k', undefined, { ttl: '1s', staleWhileRevalidate: '1m' })
    expect(await cache.has('k')).toBe(true)
    await runtime.advance(1000)
    expect(await cache.has('k')).toBe(false)
    expect(await cache.get('k', { stale: true })).toBeUndefined()
  })

  it('emits nothing', async () => {
    const remote = new Remote()
    const cache = remote.join({ near: {} })
    await cache.set('k', 'value')
    const seen = record(cache, 'hit', 'miss', 'away', 'unreadable')
    expect([await cache.has('k'), await cache.has('none')]).toEqual([true, false])
    remote.refuses = new Error('gone')
    expect(await cache.has('none')).toBe(false)
    expect(seen).toEqual([])
  })

  it('sends no read where a near copy is fresh', async () => {
    const remote = new Remote()
    const cache = remote.join({ near: {} })
    await cache.set('k', 'value')
    await cache.get('k')
    const before = remote.count('read')
    expect(await cache.has('k')).toBe(true)
    expect(remote.count('read')).toBe(before)
  })

  it('leaves no copy without a value behind, neither near nor for an outage', async () => {
    const remote = new Remote()
    const cache = remote.join({ near: {} })
    await cache.set('k', 'value')
    expect(await cache.has('k')).toBe(true)
    expect(cache.peek('k')).toBeUndefined()
    expect(await cache.get('k')).toBe('value')
    await cache.delete('k')
    await cache.set('k', 'newer')
    expect(await cache.has('k')).toBe(true)
    remote.refuses = new Error('gone')
    expect(await cache.get('k')).toBeUndefined()
  })

  it('gives no call that reads at the same moment an entry without its value', async () => {
    const cache = new Remote().join()
    await cache.set('k', 'value')
    expect(await Promise.all([cache.has('k'), cache.get('k')])).toEqual([true, 'value'])
  })

  it('goes by the copy for an outage while the store is away', async () => {
    const remote = new Remote()
    const cache = remote.join()
    await cache.set('k', 'value')
    await cache.get('k')
    remote.refuses = new Error('gone')
    expect([await cache.has('k'), await cache.has('other')]).toEqual([true, false])
  })

  it('keeps the copy for an outage that the same entry confirms, and drops that of an older one', async () => {
    const remote = new Remote()
    const [cache, other] = [remote.join(), remote.join()]
    await cache.set('k', 'old')
    await cache.get('k')
    expect(await cache.has('k')).toBe(true)
    remote.refuses = new Error('gone')
    expect(await cache.get('k')).toBe('old')
    remote.refuses = undefined
    await cache.get('k')
    remote.muted = true
    await other.set('k', 'new')
    expect(await cache.has('k')).toBe(true)
    remote.refuses = new Error('gone')
    expect(await cache.get('k')).toBeUndefined()
  })

  it('is judged by the tags of the entry and the options of a view, and is false while the cache is paused', async () => {
    const { cache, runtime } = memoryCache()
    await cache.set('k', 'value', { tags: ['t'] })
    await runtime.advance(2000)
    expect([await cache.has('k'), await cache.with({ maxAge: '1s' } as never).has('k')]).toEqual([true, false])
    cache.pause()
    expect(await cache.has('k')).toBe(false)
    cache.resume()
    await cache.invalidateTags(['t'])
    expect(await cache.has('k')).toBe(false)
  })

  it('rejects a key that is none, and a closed cache', async () => {
    const { cache } = memoryCache()
    await expect(cache.has(7 as never)).rejects.toMatchObject({ code: 'CATTLEGRID_INVALID_KEY' })
    await cache.close()
    await expect(cache.has('k')).rejects.toMatchObject({ code: 'CATTLEGRID_CLOSED' })
  })
})

describe('deleteMany', () => {
  it('deletes every key, once', async () => {
    const { cache } = memoryCache()
    for (const key of ['a', 'b', 'c']) await cache.set(key, key)
    const seen = record(cache, 'invalidate')
    await cache.deleteMany(['a', 'b', 'a'])
    expect([...(await cache.getMany(['a', 'b', 'c'])).keys()]).toEqual(['c'])
    expect(seen.map(([, event]) => event)).toEqual([
      { key: 'a', tags: [], how: 'delete' },
      { key: 'b', tags: [], how: 'delete' },
    ])
  })

  it('sends every key in the same turn, and voids the running leases', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const loads = ['a', 'b'].map((key) =>
      cache.getOrSet(key, async () => {
        await cache.deleteMany(['a', 'b'])
        return 'old'
      }),
    )
    await Promise.all(loads)
    await fleet.runtime.advance(0)
    expect(await cache.getMany(['a', 'b'])).toEqual(new Map())
    const remote = new Remote()
    remote.delays.invalidate = 10
    void remote.join().deleteMany(['a', 'b', 'c'])
    await Promise.resolve()
    expect(remote.count('invalidate')).toBe(3)
  })

  it('rejects like delete while the store is away, after it has tried every key', async () => {
    const remote = new Remote()
    const cache = remote.join()
    remote.refuses = new Error('gone')
    await expect(cache.deleteMany(['a', 'b'])).rejects.toMatchObject({ code: 'CATTLEGRID_STORE_AWAY' })
    expect(remote.count('invalidate')).toBe(2)
  })

  it('deletes nothing when one of its arguments is wrong', async () => {
    const { cache } = memoryCache()
    await cache.set('a', 'value')
    await expect(cache.deleteMany(['a', 7 as never])).rejects.toMatchObject({ code: 'CATTLEGRID_INVALID_KEY' })
    await expect(cache.deleteMany('a' as never)).rejects.toMatchObject({ code: 'CATTLEGRID_INVALID_KEY' })
    await expect(cache.deleteMany(['a'], { holdof: 1 } as never)).rejects.toThrow(/deleteMany\.holdof/)
    expect(await cache.get('a')).toBe('value')
  })

  it('takes the holdOff of delete', async () => {
    const { cache } = memoryCache()
    await cache.deleteMany(['k'], { holdOff: '1s' })
    expect(await cache.getOrSet('k', () => 'loaded')).toBe('loaded')
    expect(await cache.has('k')).toBe(false)
  })
})
