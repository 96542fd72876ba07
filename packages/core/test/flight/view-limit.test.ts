import { describe, expect, it } from '@jest/globals'
import { createFleet, Origin, rejection, settle } from '../support/fleet.ts'

const keysOf = ({ loads }: Origin): string[] => loads.map(({ load }) => load.key)

describe('maxLoads of a view', () => {
  it('limits the loads through the view, first come, first served, and no other load of the cache', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const view = cache.with({ maxLoads: 1 })
    const origin = new Origin()
    const calls = ['a', 'b', 'c'].map((key) => view.getOrSet(key, origin.loader))
    calls.push(cache.getOrSet('other', origin.loader))
    await settle(fleet)
    expect(keysOf(origin)).toEqual(['a', 'other'])
    origin.loads[0]?.resolve('a')
    await settle(fleet)
    expect(keysOf(origin)).toEqual(['a', 'other', 'b'])
    origin.last.resolve('b')
    await settle(fleet)
    for (const { resolve } of origin.loads) resolve('later')
    expect(await Promise.all(calls)).toEqual(['a', 'b', 'later', 'later'])
  })

  it('leaves the lease to processes that have a free permit', async () => {
    const fleet = createFleet()
    const [busy, idle] = fleet.caches
    const view = busy.with({ maxLoads: 1 })
    const origin = new Origin()
    void view.getOrSet('a', origin.loader)
    const waiting = view.getOrSet('b', origin.loader)
    await settle(fleet)
    expect(await idle.getOrSet('b', () => 'idle hands')).toBe('idle hands')
    origin.last.resolve('a')
    await settle(fleet)
    expect(await waiting).toBe('idle hands')
  })

  it('comes beside that of the cache, whose permits a full view does not hold', async () => {
    const fleet = createFleet({ maxLoads: 2 })
    const [cache] = fleet.caches
    const view = cache.with({ maxLoads: 1 })
    const origin = new Origin()
    const calls = ['a', 'b'].map((key) => view.getOrSet(key, origin.loader))
    calls.push(...['x', 'y'].map((key) => cache.getOrSet(key, origin.loader)))
    await settle(fleet)
    expect(keysOf(origin)).toEqual(['a', 'x'])
    // The view has a permit again, and the cache's goes to the first in its queue.
    origin.loads[0]?.resolve('a')
    await settle(fleet)
    expect(keysOf(origin)).toEqual(['a', 'x', 'y'])
    origin.last.resolve('y')
    await settle(fleet)
    expect(keysOf(origin)).toEqual(['a', 'x', 'y', 'b'])
    for (const { resolve } of origin.loads) resolve('later')
    expect(await Promise.all(calls)).toEqual(['a', 'later', 'later', 'y'])
  })

  it('gets its permit back from a caller that leaves the queue of the cache', async () => {
    const fleet = createFleet({ maxLoads: 1 })
    const [cache] = fleet.caches
    const view = cache.with({ maxLoads: 1 })
    const origin = new Origin()
    const running = cache.getOrSet('running', origin.loader)
    await settle(fleet)
    const abort = new AbortController()
    const left = rejection(view.getOrSet('left', origin.loader, { signal: abort.signal }))
    const next = view.getOrSet('next', origin.loader)
    await settle(fleet)
    abort.abort(new Error('gone'))
    expect(await left).toMatchObject({ message: 'gone' })
    origin.last.resolve('ran')
    await settle(fleet)
    expect(keysOf(origin)).toEqual(['running', 'next'])
    origin.last.resolve('next')
    expect(await Promise.all([running, next])).toEqual(['ran', 'next'])
  })

  it('counts towards waitTimeout, and lets no background refresh begin', async () => {
    const fleet = createFleet({ waitTimeout: '1s', ttl: '10s', staleWhileRevalidate: '1h' })
    const [cache] = fleet.caches
    const view = cache.with({ maxLoads: 1 })
    await view.set('stale', 'kept')
    await fleet.runtime.advance(11_000)
    const origin = new Origin()
    const running = view.getOrSet('running', origin.loader)
    const waiting = rejection(view.getOrSet('waiting', origin.loader))
    await settle(fleet)
    const { value, refresh } = await view.lookup('stale', origin.loader)
    expect({ value, outcome: await refresh }).toEqual({ value: 'kept', outcome: { kind: 'abandoned', why: 'busy' } })
    await fleet.runtime.advance(1011)
    expect(await waiting).toMatchObject({ code: 'CATTLEGRID_WAIT_TIMEOUT' })
    origin.last.resolve('ran')
    expect(await running).toBe('ran')
    expect(origin.count).toBe(1)
  })

  it('grants a permit at once to a load inside a load', async () => {
    const fleet = createFleet()
    const view = fleet.caches[0].with({ maxLoads: 1 })
    const outer = view.getOrSet('outer', () => view.getOrSet('inner', () => 'both'))
    await settle(fleet)
    expect(await outer).toBe('both')
  })

  it('takes one permit for the keys of a batch that lead together', async () => {
    const fleet = createFleet()
    const view = fleet.caches[0].with({ maxLoads: 1 })
    const origin = new Origin()
    const running = view.getOrSet('running', origin.loader)
    await settle(fleet)
    const asked: (readonly string[])[] = []
    const batch = view.getOrSetMany(['a', 'b'], (keys) => {
      asked.push(keys)
      return new Map(keys.map((key) => [key, key]))
    })
    await settle(fleet)
    expect(asked).toEqual([])
    origin.last.resolve('ran')
    await running
    await settle(fleet)
    expect((await batch).size).toBe(2)
    expect(asked).toEqual([['a', 'b']])
  })

  it('holds for a batch that waited for a permit of the cache', async () => {
    const fleet = createFleet({ maxLoads: 2 })
    const [cache] = fleet.caches
    const view = cache.with({ maxLoads: 1 })
    const origin = new Origin()
    const calls: Promise<unknown>[] = ['a', 'b'].map((key) => cache.getOrSet(key, origin.loader))
    await settle(fleet)
    calls.push(view.getOrSetMany(['x'], async (_keys, load) => new Map([['x', await origin.loader(load as never)]])))
    await settle(fleet)
    for (const { resolve } of origin.loads) resolve('done')
    await settle(fleet)
    expect(origin.count).toBe(3)
    calls.push(view.getOrSet('y', origin.loader))
    await settle(fleet)
    expect(origin.count).toBe(3)
    origin.last.resolve('x')
    await settle(fleet)
    expect(origin.count).toBe(4)
    origin.last.resolve('y')
    await Promise.all(calls)
  })

  it('lets a call that waits in vain load alone where a permit is free', async () => {
    const fleet = createFleet({ waitTimeout: '1s' })
    const [cache, other] = fleet.caches
    const view = cache.with({ maxLoads: 1, onWaitTimeout: 'load' })
    const elsewhere = new Origin()
    void other.getOrSet('held', elsewhere.loader)
    await settle(fleet)
    const alone = view.getOrSet('held', () => 'alone')
    await fleet.runtime.advance(1011)
    expect(await alone).toBe('alone')
    elsewhere.last.resolve('led')
  })
})
