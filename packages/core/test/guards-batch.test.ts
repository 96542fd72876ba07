import { describe, expect, it } from '@jest/globals'
import { createFleet, Origin, rejection, settle } from './fleet.ts'

const all = (keys: readonly string[]): Map<string, string> => new Map(keys.map((key) => [key, key]))

describe('a batch', () => {
  it('waits for a turn without a lease in hand, so that others can load its keys', async () => {
    const fleet = createFleet({ maxLoads: 1 })
    const [busy, idle] = fleet.caches
    const origin = new Origin()
    const running = busy.getOrSet('running', origin.loader)
    await settle(fleet)
    const batch = busy.getOrSetMany(['a', 'b'], all)
    await settle(fleet)
    expect(await idle.getOrSet('a', () => 'idle hands')).toBe('idle hands')
    origin.last.resolve('done')
    expect(await running).toBe('done')
    await settle(fleet)
    expect(await batch).toEqual(
      new Map([
        ['a', 'idle hands'],
        ['b', 'b'],
      ]),
    )
  })

  it('gives up waiting for a turn at waitTimeout, and leaves the turn to others', async () => {
    const fleet = createFleet({ maxLoads: 1, waitTimeout: '1s' })
    const [cache] = fleet.caches
    const origin = new Origin()
    const running = cache.getOrSet('running', origin.loader)
    await settle(fleet)
    const batch = rejection(cache.getOrSetMany(['a'], all))
    await fleet.runtime.advance(1000)
    expect(await batch).toMatchObject({ code: 'CATTLEGRID_WAIT_TIMEOUT' })
    origin.last.resolve('done')
    expect(await running).toBe('done')
    const next = cache.getOrSet('next', () => 'turn taken')
    await settle(fleet)
    expect(await Promise.race([next, Promise.resolve('waits')])).toBe('turn taken')
    expect(fleet.runtime.pendingTimers).toBe(0)
  })

  it('gives back a turn that it did not need, because somebody had stored every key', async () => {
    const fleet = createFleet({ maxLoads: 1 })
    const [cache] = fleet.caches
    await cache.set('a', 'kept')
    fleet.store.peek = () => undefined
    expect(await cache.getOrSetMany(['a'], all)).toEqual(new Map([['a', 'kept']]))
    expect(await cache.getOrSet('next', () => 'turn taken')).toBe('turn taken')
  })

  it('gives back the turn of a load that has ended', async () => {
    const fleet = createFleet({ maxLoads: 1 })
    const [cache] = fleet.caches
    await cache.getOrSetMany(['a'], all)
    const next = cache.getOrSet('next', () => 'turn taken')
    await settle(fleet)
    expect(await Promise.race([next, Promise.resolve('waits')])).toBe('turn taken')
  })

  it('loads what is missing and what is stale in one call', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m' })
    const [cache] = fleet.caches
    await cache.set('a', 'stale')
    await fleet.runtime.advance(10_001)
    const { acquire } = fleet.store
    fleet.store.acquire = async (key, request) => {
      if (key === 'a') await new Promise<void>((resolve) => fleet.runtime.schedule(resolve, 10))
      return acquire.call(fleet.store, key, request)
    }
    const asked: (readonly string[])[] = []
    const call = cache.getOrSetMany(['a', 'b'], (keys) => {
      asked.push(keys.toSorted())
      return all(keys)
    })
    await fleet.runtime.advance(10)
    expect(await call).toEqual(
      new Map([
        ['a', 'stale'],
        ['b', 'b'],
      ]),
    )
    await settle(fleet)
    expect(asked).toEqual([['a', 'b']])
    expect(await cache.get('a')).toBe('a')
  })
})
