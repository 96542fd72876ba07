import { describe, expect, it } from '@jest/globals'
import type { CallerSignal } from '../src/load.ts'
import { createFleet, Origin, rejection, settle, trace } from './fleet.ts'

describe('flights of one process', () => {
  it('share one load among all callers of a cold key', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const origin = new Origin()
    const calls = Promise.all(Array.from({ length: 50 }, () => cache.getOrSet('k', origin.loader)))
    await settle(fleet)
    origin.last.resolve('value')
    expect(new Set(await calls)).toEqual(new Set(['value']))
    expect(origin.count).toBe(1)
  })

  it('give the callers of a flight the very object that the loader returned', async () => {
    const [cache] = createFleet().caches
    const value = { stock: 3 }
    expect(await cache.getOrSet('k', () => value)).toBe(value)
  })

  it('read the store once for many callers of one key', async () => {
    const fleet = createFleet()
    let reads = 0
    const { read } = fleet.store
    fleet.store.peek = () => undefined
    fleet.store.read = (...args) => {
      reads += 1
      return read.apply(fleet.store, args)
    }
    const [cache] = fleet.caches
    await cache.set('k', 1)
    await Promise.all(Array.from({ length: 64 }, () => cache.getOrSet('k', () => 2)))
    expect(reads).toBe(1)
  })

  it('answer a hit from memory without reading the store', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    await cache.set('k', 'kept')
    fleet.store.read = () => Promise.reject(new Error('read'))
    expect(await cache.getOrSet('k', () => 'loaded')).toBe('kept')
  })

  it('keep a caller out that comes once the commit is sent, and let it find the committed value', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const commit = fleet.store.commit.bind(fleet.store)
    let letGo = (): void => {}
    fleet.store.commit = async (...args) => {
      await new Promise<void>((resolve) => (letGo = resolve))
      return commit(...args)
    }
    const first = cache.getOrSet('k', () => 'one')
    expect(await first).toBe('one')
    const events = trace(cache, 'join', 'follow')
    const second = cache.getOrSet('k', () => 'two')
    await settle(fleet)
    expect(events).toEqual(['follow'])
    letGo()
    await fleet.runtime.advance(1000)
    expect(await second).toBe('one')
  })

  it('refuse a loader that asks for the key it is loading, and name the chain', async () => {
    const [cache] = createFleet().caches
    const inner = () => cache.getOrSet('a', () => 'never')
    const call = cache.getOrSet('a', () => cache.getOrSet('b', inner))
    await expect(call).rejects.toMatchObject({
      code: 'CATTLEGRID_REENTRANT',
      message: expect.stringContaining('a → b → a'),
    })
  })

  it('refuse a loader whose load another one waits for: two that ask for each other would wait for ever', async () => {
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

  it('refuse the same over two caches, and take their keys apart', async () => {
    const [one] = createFleet().caches
    const [other] = createFleet().caches
    expect(await one.getOrSet('k', () => other.getOrSet('k', () => 'theirs'))).toBe('theirs')
    const calls = [
      rejection(one.getOrSet('a', async () => await other.getOrSet('b', () => new Promise(() => {})))),
      rejection(other.getOrSet('b', async () => await one.getOrSet('a', () => 'never'))),
    ]
    expect((await Promise.race(calls)) as Error).toMatchObject({ code: 'CATTLEGRID_REENTRANT' })
  })

  it('of another cache have turns of their own, and are refused by a cache that closes', async () => {
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

  it('look at each load once, however many ways lead to it', async () => {
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

  it('let two loads wait for a third', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const origin = new Origin()
    const third = (): Promise<string> => cache.getOrSet('c', origin.loader)
    const calls = [cache.getOrSet('a', third), cache.getOrSet('b', third), third()]
    await settle(fleet)
    origin.last.resolve('done')
    expect([await Promise.all(calls), origin.count]).toEqual([['done', 'done', 'done'], 1])
  })

  it('let a background load ask for the key of the load that started it: nobody waits for it', async () => {
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

  it('end only the wait of a caller whose own signal aborts', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const origin = new Origin()
    const leaving = new AbortController()
    const left = cache.getOrSet('k', origin.loader, { signal: leaving.signal })
    const stays = cache.getOrSet('k', origin.loader)
    await settle(fleet)
    leaving.abort(new Error('gone'))
    await expect(left).rejects.toThrow('gone')
    expect(origin.last.load.signal.aborted).toBe(false)
    origin.last.resolve('value')
    expect(await stays).toBe('value')
  })

  it('end the wait of a caller whose signal is none of the platform’s, and listen to it no longer than that', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const origin = new Origin()
    const listeners = new Set<() => void>()
    const signal: CallerSignal = {
      aborted: false,
      reason: new Error('gone'),
      throwIfAborted: () => undefined,
      addEventListener: (_, onAbort) => void listeners.add(onAbort),
      removeEventListener: (_, onAbort) => void listeners.delete(onAbort),
    }
    const left = cache.getOrSet('k', origin.loader, { signal })
    const stays = cache.getOrSet('k', origin.loader)
    await settle(fleet)
    for (const onAbort of listeners) onAbort()
    await expect(left).rejects.toThrow('gone')
    expect(listeners.size).toBe(0)
    origin.last.resolve('value')
    expect(await stays).toBe('value')
  })
})
