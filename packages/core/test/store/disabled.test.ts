import { describe, expect, it, jest } from '@jest/globals'
import { createCache } from '@cattlegrid/core'
import { Remote } from '../support/remote.ts'

describe('a cache with enabled: false', () => {
  it('runs the loader of every call, keeps nothing, and sends nothing to its store', async () => {
    const remote = new Remote()
    const cache = remote.join({ enabled: false, near: {} })
    const loader = jest.fn(() => 'value')
    await Promise.all([cache.getOrSet('k', loader), cache.getOrSet('k', loader), cache.refresh('k', loader)])
    expect(loader).toHaveBeenCalledTimes(3)
    await cache.set('k', 'value', { tags: ['t'] })
    expect([await cache.get('k'), cache.peek('k'), await cache.read('k')]).toEqual([undefined, undefined, undefined])
    await Promise.all([cache.delete('k'), cache.expire('k'), cache.invalidateTags(['t']), cache.clear()])
    expect(await cache.inspect('k')).toMatchObject({ state: 'gone' })
    expect(remote.asked).toEqual({})
  })

  it('stays paused, also for its views', async () => {
    const cache = createCache({ enabled: false, ttl: '1m' })
    cache.with({ ttl: '1h' }).resume()
    expect(cache.paused).toBe(true)
    await cache.set('k', 'stored')
    expect(await cache.getOrSet('k', () => 'loaded')).toBe('loaded')
  })

  it('closes a shared store when it is the last cache that uses it', async () => {
    const remote = new Remote()
    const close = jest.spyOn(remote.memory, 'close')
    const cache = remote.join({ enabled: false })
    expect(close).not.toHaveBeenCalled()
    await cache.close()
    expect(close).toHaveBeenCalledTimes(1)
  })
})
