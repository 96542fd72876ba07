import { describe, expect, it } from '@jest/globals'
import { createFleet, Origin, rejection, settle } from '../support/fleet.ts'
import { never } from '../support/memory-cache.ts'

const all = (keys: readonly string[]): Map<string, string> => new Map(keys.map((key) => [key, key]))

describe('a call from inside a load', () => {
  it('gives its permit to a queued flight that it joins', async () => {
    const fleet = createFleet({ maxLoads: 1 })
    const [cache] = fleet.caches
    const [page, config] = [new Origin(), new Origin()]
    const first = cache.getOrSet('page', async (load) => {
      await page.loader(load)
      return `page with ${await cache.getOrSet<string>('config', never)}`
    })
    await settle(fleet)
    const queued = cache.getOrSet('config', config.loader)
    await settle(fleet)
    expect(config.count).toBe(0)
    page.last.resolve('page')
    await settle(fleet)
    config.last.resolve('config')
    await settle(fleet)
    expect(await Promise.all([first, queued])).toEqual(['page with config', 'config'])
    expect(fleet.runtime.pendingTimers).toBe(0)
  })

  it('gives its permit to a flight that it joined before the flight had to queue', async () => {
    const fleet = createFleet({ maxLoads: 1 })
    const [cache, other] = fleet.caches
    const [config, elsewhere, busy] = [new Origin(), new Origin(), new Origin()]
    const led = rejection(other.getOrSet('config', elsewhere.loader, { isFailure: () => false }))
    await settle(fleet)
    const following = cache.getOrSet('config', config.loader)
    await settle(fleet)
    const first = cache.getOrSet('page', async () => `page with ${await cache.getOrSet<string>('config', never)}`)
    await settle(fleet)
    void cache.getOrSet('busy', busy.loader)
    await settle(fleet)
    elsewhere.last.reject(new Error('not mine'))
    await led
    await settle(fleet)
    expect(busy.count).toBe(0)
    config.last.resolve('config')
    await settle(fleet)
    expect(await Promise.all([first, following])).toEqual(['page with config', 'config'])
  })

  it('gives its permit to the whole batch of a queued key that it joins', async () => {
    const fleet = createFleet({ maxLoads: 1 })
    const [cache] = fleet.caches
    const page = new Origin()
    const first = cache.getOrSet('page', async (load) => {
      await page.loader(load)
      return `page with ${await cache.getOrSet<string>('b', never)}`
    })
    await settle(fleet)
    const asked: (readonly string[])[] = []
    const batch = cache.getOrSetMany(['a', 'b', 'c'], (keys) => {
      asked.push(keys.toSorted())
      return all(keys)
    })
    await settle(fleet)
    page.last.resolve('page')
    await settle(fleet)
    expect(await first).toBe('page with b')
    expect(await batch).toEqual(all(['a', 'b', 'c']))
    expect(asked).toEqual([['a', 'b', 'c']])
  })

  it('gives its permit to a queued flight whose outcome it awaits', async () => {
    const fleet = createFleet({ maxLoads: 1, staleWhileRevalidate: '1m' })
    const [cache] = fleet.caches
    await cache.set('config', 'stale')
    await fleet.runtime.advance(10_001)
    const [page, config] = [new Origin(), new Origin()]
    const first = cache.getOrSet('page', async (load) => {
      await page.loader(load)
      const { value, refresh } = await cache.lookup('config', never)
      return `page with ${value as string}, then ${(await refresh)?.kind ?? 'nothing'}`
    })
    await settle(fleet)
    const queued = cache.getOrSet('config', config.loader, { staleWhileRevalidate: false })
    await settle(fleet)
    page.last.resolve('page')
    await settle(fleet)
    config.last.resolve('config')
    await settle(fleet)
    expect(await Promise.all([first, queued])).toEqual(['page with stale, then committed', 'config'])
  })

  it('is not counted against the herd that waits for the load', async () => {
    const fleet = createFleet({ maxWaiters: 100, maxWaitersPerKey: 100 })
    const [cache] = fleet.caches
    const failures: string[] = []
    cache.on('load-failed', ({ key }) => failures.push(key))
    const part = new Origin()
    const page = async (): Promise<string> => `page with ${await cache.getOrSet('part', part.loader)}`
    const calls = Array.from({ length: 120 }, () => cache.getOrSet('page', page))
    const results = Promise.allSettled(calls)
    await settle(fleet)
    part.last.resolve('part')
    const counts = { fulfilled: 0, rejected: 0 }
    for (const { status } of await results) counts[status] += 1
    expect([counts, failures]).toEqual([{ fulfilled: 100, rejected: 20 }, []])
  })

  it('takes no place of the callers of a key', async () => {
    const fleet = createFleet({ maxWaiters: 10, maxWaitersPerKey: 2 })
    const [cache] = fleet.caches
    const config = new Origin()
    const pages = Promise.all(
      ['a', 'b', 'c'].map((key) => cache.getOrSet(key, () => cache.getOrSet('config', config.loader))),
    )
    await settle(fleet)
    const outside = [cache.getOrSet('config', never), cache.getOrSet('config', never)]
    await settle(fleet)
    expect(await rejection(cache.getOrSet('config', never))).toMatchObject({ code: 'CATTLEGRID_TOO_MANY_WAITERS' })
    config.last.resolve('config')
    expect(await pages).toEqual(['config', 'config', 'config'])
    expect(await Promise.all(outside)).toEqual(['config', 'config'])
  })

  it('that has left takes nothing from the count of the others', async () => {
    const fleet = createFleet({ maxWaiters: 10, maxWaitersPerKey: 2 })
    const [cache] = fleet.caches
    const [config, rest] = [new Origin(), new Origin()]
    const leaving = new AbortController()
    const pages = Promise.all(
      ['a', 'b', 'c'].map((key) =>
        cache.getOrSet(key, async (load) => {
          await cache.getOrSet('config', config.loader, { signal: leaving.signal }).catch(() => 'left')
          return await rest.loader(load)
        }),
      ),
    )
    await settle(fleet)
    leaving.abort()
    await settle(fleet)
    const outside = [cache.getOrSet('config', never), cache.getOrSet('config', never)]
    await settle(fleet)
    expect(await rejection(cache.getOrSet('config', never))).toMatchObject({ code: 'CATTLEGRID_TOO_MANY_WAITERS' })
    config.last.resolve('config')
    for (const { resolve } of rest.loads) resolve('page')
    expect(await Promise.all([pages, ...outside])).toEqual([['page', 'page', 'page'], 'config', 'config'])
  })

  it('for many keys is not counted either', async () => {
    const fleet = createFleet({ maxWaiters: 1 })
    const [cache] = fleet.caches
    const page = async (): Promise<number> => (await cache.getOrSetMany(['a', 'b'], all)).size
    expect(await cache.getOrSet('page', page)).toBe(2)
  })
})

describe('a loader that awaits the refresh of another key', () => {
  it('rejects when that load asks for its own key', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m', loadTimeout: '5s' })
    const [cache] = fleet.caches
    await cache.set('b', 'stale')
    await fleet.runtime.advance(10_001)
    const b = new Origin()
    const failures: unknown[] = []
    cache.on('load-failed', ({ key, error }) => failures.push([key, (error as { code?: string }).code]))
    const outer = cache.getOrSet('a', async () => {
      const { refresh } = await cache.lookup('b', async (load) => {
        await b.loader(load)
        return await cache.getOrSet<string>('a', never)
      })
      return (await refresh)?.kind
    })
    await settle(fleet)
    b.last.resolve('go on')
    await settle(fleet)
    expect(failures).toEqual([['b', 'CATTLEGRID_REENTRANT']])
    expect(await outer).toBe('failed')
  })

  it('rejects when that load waits for its own key already', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m', loadTimeout: '5s' })
    const [cache] = fleet.caches
    await cache.set('b', 'stale')
    await fleet.runtime.advance(10_001)
    const a = new Origin()
    const outer = rejection(
      cache.getOrSet('a', async (load) => {
        const { refresh } = await cache.lookup('b', () => cache.getOrSet<string>('a', never))
        await a.loader(load)
        return (await refresh)?.kind
      }),
    )
    await settle(fleet)
    a.last.resolve('go on')
    await settle(fleet)
    expect(await outer).toMatchObject({
      code: 'CATTLEGRID_REENTRANT',
      message: expect.stringContaining('a → b → a'),
    })
  })

  it('may leave it alone', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m', loadTimeout: '5s' })
    const [cache] = fleet.caches
    await cache.set('b', 'stale')
    await fleet.runtime.advance(10_001)
    const a = new Origin()
    const outer = cache.getOrSet('a', async (load) => {
      const { refresh } = await cache.lookup('b', async () => `b of ${await cache.getOrSet<string>('a', never)}`)
      return `${await a.loader(load)}, refresh ${refresh === undefined ? 'missing' : 'running'}`
    })
    await settle(fleet)
    a.last.resolve('a')
    expect(await outer).toBe('a, refresh running')
    await settle(fleet)
    expect(await cache.get('b')).toBe('b of a, refresh running')
  })
})

describe('a load that was begun inside another one, which did not wait for it', () => {
  it('may ask for the key of that load once it has ended', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    let unawaited: Promise<string> | undefined
    await cache.getOrSet('a', (load) => {
      unawaited = cache.getOrSet('b', async () => {
        await new Promise<void>((resolve) => void fleet.runtime.schedule(resolve, 100))
        return await cache.getOrSet('a', () => 'second')
      })
      load.keep({ ttl: '50ms' })
      return 'first'
    })
    await fleet.runtime.advance(100)
    expect(await unawaited).toBe('second')
  })
})
