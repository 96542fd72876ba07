import { describe, expect, it } from '@jest/globals'
import { createFleet, record } from '../support/fleet.ts'
import { memoryCache } from '../support/memory-cache.ts'
import { Remote } from '../support/remote.ts'

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
    expect(await cache.get('k')).toBeUndefined()
  })
})
