import { describe, expect, it, jest } from '@jest/globals'
import { createFleet, Origin, rejection, settle } from '../support/fleet.ts'
import { memoryCache, never } from '../support/memory-cache.ts'
import { Remote } from '../support/remote.ts'

/** A signal that counts its listeners. */
function countingSignal() {
  const controller = new AbortController()
  const { signal } = controller
  const count = { listeners: 0 }
  const { addEventListener, removeEventListener } = signal
  signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
    count.listeners += 1
    addEventListener.apply(signal, args)
  }
  signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
    count.listeners -= 1
    removeEventListener.apply(signal, args)
  }
  return { controller, signal, count }
}

describe('a signal that many calls wait with', () => {
  it('has one listener, which ends every wait', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const { controller, signal, count } = countingSignal()
    const keys = Array.from({ length: 20 }, (_, index) => `k${index}`)
    const origin = new Origin()
    const calls = keys.map((key) => rejection(cache.getOrSet(key, origin.loader, { signal })))
    const batch = rejection(
      cache.getOrSetMany(
        keys.map((key) => `many ${key}`),
        () => new Promise<Map<string, unknown>>(() => {}),
        { signal },
      ),
    )
    await settle(fleet)
    expect(count.listeners).toBe(1)
    controller.abort(new Error('left'))
    for (const error of await Promise.all([...calls, batch])) expect(error).toMatchObject({ message: 'left' })
    expect(count.listeners).toBe(0)
  })

  it('has none once no call waits, and one again for the next', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const { controller, signal, count } = countingSignal()
    for (const round of [1, 2]) {
      const origin = new Origin()
      const calls = ['a', 'b'].map((key) => cache.getOrSet(`${key}${round}`, origin.loader, { signal }))
      await settle(fleet)
      expect(count.listeners).toBe(1)
      for (const { resolve } of origin.loads) resolve('loaded')
      expect(await Promise.all(calls)).toEqual(['loaded', 'loaded'])
      expect(count.listeners).toBe(0)
    }
    controller.abort(new Error('too late'))
    expect(await cache.getOrSet('a1', never, { signal })).toBe('loaded')
  })
})

describe('a signal of a call that a store in this process answers', () => {
  it('gets no listener, even while a refresh of the stale value runs', async () => {
    const { cache, runtime } = memoryCache()
    const { signal } = new AbortController()
    const listens = jest.spyOn(signal, 'addEventListener')
    await cache.set('k', 'kept', { ttl: '1s', staleWhileRevalidate: '1m' })
    await runtime.advance(2000)
    const found = await cache.lookup('k', () => new Promise<string>(() => {}), { signal, staleWhileRevalidate: '1m' })
    expect(found).toMatchObject({ value: 'kept', status: 'stale' })
    expect(listens).not.toHaveBeenCalled()
  })
})

describe('a signal of a call whose read has no answer yet', () => {
  it.each(['getOrSet', 'lookup', 'getOrSetMany', 'refresh'] as const)('ends the wait of %s at once', async (verb) => {
    const remote = new Remote()
    const cache = remote.join()
    remote.delays.read = 100
    const { controller, signal, count } = countingSignal()
    const call =
      verb === 'getOrSetMany'
        ? cache.getOrSetMany(['k'], () => new Map<string, unknown>(), { signal })
        : cache[verb]('k', never, { signal })
    const failed = rejection(call)
    await remote.runtime.advance(10)
    controller.abort(new Error('left'))
    expect(await failed).toMatchObject({ message: 'left' })
    expect(count.listeners).toBe(0)
    await remote.runtime.advance(1000)
    expect(remote.runtime.pendingTimers).toBe(0)
  })
})
