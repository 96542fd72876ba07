import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, expect, it, jest } from '@jest/globals'
import { createFleet, type Fleet, Origin, rejection, settle, trace } from '../support/fleet.ts'
import { never } from '../support/memory-cache.ts'

// First in this file: tests below leave loads running, and the storage stays enabled for those.
describe('the AsyncLocalStorage of loads', () => {
  it('is disabled while no load runs, because it slows every promise of the process', async () => {
    const off = jest.spyOn(AsyncLocalStorage.prototype, 'disable')
    const [cache] = createFleet().caches
    const origins = [new Origin(), new Origin()] as const
    const calls = Promise.all(origins.map((origin, index) => cache.getOrSet(`k${index}`, origin.loader)))
    await new Promise(setImmediate)
    origins[0].last.resolve(1)
    await new Promise(setImmediate)
    expect(off).not.toHaveBeenCalled()
    origins[1].last.resolve(2)
    await calls
    await new Promise(setImmediate)
    expect(off).toHaveBeenCalledTimes(1)
    off.mockRestore()
  })
})

describe('a loader that asks for other keys', () => {
  it('rejects when it asks for the key that it loads, and names the chain', async () => {
    const [cache] = createFleet().caches
    const inner = () => cache.getOrSet('a', () => 'never')
    const call = cache.getOrSet('a', () => cache.getOrSet('b', inner))
    await expect(call).rejects.toMatchObject({
      code: 'CATTLEGRID_REENTRANT',
      message: expect.stringContaining('a → b → a'),
    })
  })

  it('rejects when loads would wait for each other', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const pause = (): Promise<void> => new Promise((resolve) => void fleet.runtime.schedule(resolve, 10))
    const asking =
      (...way: readonly string[]) =>
      async (): Promise<string> => {
        await pause()
        const [next, ...rest] = way
        return next === undefined ? 'end' : await cache.getOrSet(next, asking(...rest))
      }
    const calls = [
      rejection(cache.getOrSet('a', asking('b', 'c'))),
      rejection(cache.getOrSet('b', asking('c', 'a'))),
      rejection(cache.getOrSet('c', asking('a', 'b'))),
    ]
    await fleet.runtime.advance(100)
    const [first] = await Promise.all(calls)
    expect(first).toMatchObject({ code: 'CATTLEGRID_REENTRANT', message: expect.stringMatching(/c → a → b → c/) })
  })

  it('rejects when loads of two caches would wait for each other, but may use the same key in both', async () => {
    const [one] = createFleet().caches
    const [other] = createFleet().caches
    expect(await one.getOrSet('k', () => other.getOrSet('k', () => 'theirs'))).toBe('theirs')
    const calls = [
      rejection(one.getOrSet('a', async () => await other.getOrSet('b', () => new Promise(() => {})))),
      rejection(other.getOrSet('b', async () => await one.getOrSet('a', () => 'never'))),
    ]
    expect((await Promise.race(calls)) as Error).toMatchObject({ code: 'CATTLEGRID_REENTRANT' })
  })

  it('needs a permit of the other cache, and is rejected while that cache closes', async () => {
    const [outer] = createFleet().caches
    const fleet = createFleet({ maxLoads: 1 })
    const [inner] = fleet.caches
    const origin = new Origin()
    for (const key of ['a', 'b', 'c'])
      void outer.getOrSet(key, () => inner.getOrSet(key, origin.loader)).catch(() => {})
    await settle(fleet)
    expect(origin.count).toBe(1)
    const closing = inner.close()
    expect(await rejection(outer.getOrSet('d', () => inner.get('d')))).toMatchObject({ code: 'CATTLEGRID_CLOSED' })
    await fleet.runtime.advance(10_000)
    await closing
  })

  it('is checked in time linear in the number of loads', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const origin = new Origin()
    const layer = (depth: number): Promise<unknown> =>
      depth === 12
        ? cache.getOrSet('deepest', origin.loader)
        : Promise.all(Array.from({ length: 8 }, (_, at) => cache.getOrSet(`${depth}:${at}`, () => layer(depth + 1))))
    const call = layer(0)
    for (let depth = 0; depth < 40; depth += 1) await settle(fleet)
    origin.last.resolve('end')
    await call
    expect(origin.count).toBe(1)
  })

  it('is checked by a search that follows each load once, however many loads wait for it', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const origin = new Origin()
    const ask = (depth: number): Promise<unknown> =>
      depth === 10
        ? cache.getOrSet('deepest', origin.loader)
        : Promise.all(['left', 'right'].map((side) => cache.getOrSet(`${depth} ${side}`, () => ask(depth + 1))))
    void ask(0)
    for (let depth = 0; depth < 40; depth += 1) await settle(fleet)
    const lookups = jest.spyOn(Map.prototype, 'get')
    void cache.getOrSet('last', () => ask(0))
    await settle(fleet)
    const { length } = lookups.mock.calls
    lookups.mockRestore()
    expect(origin.count).toBe(1)
    // There are 2 ** 10 ways from the top to the deepest load.
    expect(length).toBeLessThan(500)
  })

  it.each(['a', 'b'])('rejects when it would wait for the loader of a batch that waits for it: key %s', async (key) => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const pause = (): Promise<void> => new Promise((resolve) => void fleet.runtime.schedule(resolve, 10))
    const single = rejection(cache.getOrSet('single', () => pause().then(() => cache.getOrSet(key, never))))
    const batch = rejection(cache.getOrSetMany(['a', 'b'], () => cache.getOrSet('single', never).then(() => new Map())))
    await fleet.runtime.advance(10)
    for (const error of await Promise.all([single, batch])) {
      expect(error).toMatchObject({
        code: 'CATTLEGRID_REENTRANT',
        message: expect.stringContaining(`single → ${key} → single`),
      })
    }
  })

  it('may wait for a load that another loader waits for', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const origin = new Origin()
    const third = (): Promise<string> => cache.getOrSet('c', origin.loader)
    const calls = [cache.getOrSet('a', third), cache.getOrSet('b', third), third()]
    await settle(fleet)
    origin.last.resolve('done')
    expect([await Promise.all(calls), origin.count]).toEqual([['done', 'done', 'done'], 1])
  })

  it('may, in a background load, ask for the key of the load that started it', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m' })
    const [cache] = fleet.caches
    await cache.set('b', 'stale')
    await fleet.runtime.advance(11_000)
    const origin = new Origin()
    const outer = cache.getOrSet(
      'a',
      async () => `a with ${await cache.getOrSet('b', () => cache.getOrSet('a', origin.loader))}`,
    )
    await settle(fleet)
    expect(await outer).toBe('a with stale')
    expect(origin.count).toBe(0)
  })

  it('refreshes a stale value in the background although that load asks for the outer key', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m' })
    const [cache] = fleet.caches
    await cache.set('b', 'old')
    await fleet.runtime.advance(10_001)
    const failures = trace(cache, 'load-failed')
    const b = (): Promise<string> => cache.getOrSet('b', async () => `b of ${await cache.getOrSet('a', () => 'a')}`)
    await cache.getOrSet('a', async () => `a of ${await b()}`)
    await settle(fleet)
    expect(failures).toEqual([])
    expect(await cache.get('b')).toBe('b of a of old')
  })
})

describe('a refresh that a loader awaits', () => {
  it('is refused when it waits for that load, also if the refresh was begun outside', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m' })
    const [cache] = fleet.caches
    await cache.set('b', 'old')
    await fleet.runtime.advance(10_001)
    const [begun, a] = [new Origin(), new Origin()]
    const { refresh } = await cache.lookup('b', async (load) => {
      await begun.loader(load)
      return `b of ${await cache.getOrSet<string>('a', never)}`
    })
    await settle(fleet)
    const call = rejection(
      cache.getOrSet('a', async (load) => {
        await a.loader(load)
        return await refresh
      }),
    )
    await settle(fleet)
    begun.last.resolve('begun')
    await settle(fleet)
    a.last.resolve('a')
    await settle(fleet)
    expect(await call).toMatchObject({ code: 'CATTLEGRID_REENTRANT' })
  })
})

describe('a wait of a loader for another key', () => {
  /** `a` waits for `b` until its signal aborts, and then ends when `rest` does. */
  function waitingLoad(fleet: Fleet) {
    const [cache] = fleet.caches
    const [b, rest] = [new Origin(), new Origin()]
    const leaving = new AbortController()
    const calls = {
      b: cache.getOrSet('b', async (load) => `${await b.loader(load)} of ${await cache.getOrSet<string>('a', never)}`),
      a: cache.getOrSet('a', async (load) => {
        await cache.getOrSet('b', never, { signal: leaving.signal }).catch(() => 'left')
        return await rest.loader(load)
      }),
    }
    return { cache, b, rest, leaving, calls }
  }

  it('closes no cycle once it is over: the other load may then ask for the first key', async () => {
    const fleet = createFleet()
    const { b, rest, leaving, calls } = waitingLoad(fleet)
    await settle(fleet)
    leaving.abort()
    await settle(fleet)
    b.last.resolve('b')
    await settle(fleet)
    rest.last.resolve('a')
    expect(await Promise.all([calls.a, calls.b])).toEqual(['a', 'b of a'])
  })

  it('still closes a cycle after the same load has ended its wait for a third key', async () => {
    const fleet = createFleet({ loadTimeout: '1s' })
    const [cache] = fleet.caches
    const [b, c] = [new Origin(), new Origin()]
    const expected = rejection(
      cache.getOrSet('b', async (load) => `${await b.loader(load)} of ${await cache.getOrSet<string>('a', never)}`),
    )
    void rejection(cache.getOrSet('a', () => Promise.all([cache.getOrSet('b', never), cache.getOrSet('c', c.loader)])))
    await settle(fleet)
    c.last.resolve('c')
    await settle(fleet)
    b.last.resolve('b')
    await fleet.runtime.advance(1000)
    expect(await expected).toMatchObject({ code: 'CATTLEGRID_REENTRANT' })
  })

  it('still closes a cycle after another load has ended its own wait', async () => {
    const fleet = createFleet({ loadTimeout: '1s' })
    const { cache, b, calls } = waitingLoad(fleet)
    const d = new Origin()
    const other = cache.getOrSet('c', () => cache.getOrSet('d', d.loader))
    const expected = rejection(calls.b)
    void rejection(calls.a)
    await settle(fleet)
    d.last.resolve('d')
    expect(await other).toBe('d')
    b.last.resolve('b')
    await fleet.runtime.advance(1000)
    expect(await expected).toMatchObject({
      code: 'CATTLEGRID_REENTRANT',
      message: 'A loader asks for a key that it is loading: b → a → b. Give the inner call another key.',
    })
  })
})

describe('code that a loader left running', () => {
  it('is outside of the ended load, and may ask for the same key', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    let later: Promise<string> | undefined
    // Another load keeps the storage on that knows what runs inside of what.
    void cache.getOrSet('other', new Origin().loader)
    await cache.getOrSet('k', (load) => {
      const pause = new Promise<void>((resolve) => fleet.runtime.schedule(resolve, 100))
      later = pause.then(() => cache.getOrSet('k', () => 'second'))
      load.keep({ ttl: '50ms' })
      return 'first'
    })
    await fleet.runtime.advance(100)
    expect(await later).toBe('second')
  })

  it('is outside of the ended batch', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    let later: Promise<string> | undefined
    void cache.getOrSet('other', new Origin().loader)
    await cache.getOrSetMany(['a', 'b'], (keys, load) => {
      const pause = new Promise<void>((resolve) => fleet.runtime.schedule(resolve, 100))
      later = pause.then(() => cache.getOrSet('a', () => 'second'))
      load.keep('a', { ttl: '50ms' })
      return new Map(keys.map((key) => [key, key]))
    })
    await fleet.runtime.advance(100)
    expect(await later).toBe('second')
  })
})
