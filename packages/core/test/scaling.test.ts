import { describe, expect, it } from '@jest/globals'
import { type Cache, createCache, type Load, memoryStore } from '@cattlegrid/core'
import { createFleet, rejection, settle } from './fleet.ts'
import { growth, type Scenario } from './growth.ts'
import { never } from './memory-cache.ts'
import { Remote } from './remote.ts'

const newCache = (): Cache =>
  createCache({
    ttl: '1m',
    maxWaiters: 1e6,
    maxWaitersPerKey: 1e6,
    store: memoryStore({ maxEntries: 1e6, maxBytes: '4gb' }),
  })
const numbered = (n: number, name = 'k'): string[] => Array.from({ length: n }, (_, at) => `${name}${at}`)
const all = (keys: readonly string[]): Map<string, number> => new Map(keys.map((key, at) => [key, at]))
const hang = (): Promise<never> => new Promise<never>(() => undefined)
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** `n` loads that run until the cache closes. */
async function withFlights(n: number): Promise<Cache> {
  const cache = newCache()
  for (const key of numbered(n, 'running')) void cache.getOrSet(key, hang).catch(() => undefined)
  await turn()
  return cache
}

/** By what one operation does with n. */
const operations: Record<string, readonly [n: number, scenario: Scenario]> = {
  'getOrSetMany, whose loader calls getOrSet for each key': [
    500,
    async (n) => {
      const cache = newCache()
      const part = (key: string): Promise<number> => cache.getOrSet(`part of ${key}`, () => 1)
      return () => cache.getOrSetMany(numbered(n), async (keys) => all((await Promise.all(keys.map(part))).map(String)))
    },
  ],
  'getOrSetMany, whose loader calls getOrSetMany': [
    500,
    async (n) => {
      const cache = newCache()
      return () => cache.getOrSetMany(numbered(n), () => cache.getOrSetMany(numbered(n, 'inner'), all))
    },
  ],
  'getOrSetMany, whose loader asks for its own keys': [
    500,
    async (n) => {
      const cache = newCache()
      const ask = (key: string): Promise<unknown> => rejection(cache.getOrSet(key, never))
      return () => cache.getOrSetMany(numbered(n), async (keys) => (await Promise.all(keys.map(ask)), all(keys)))
    },
  ],
  'two calls of getOrSetMany, of which each asks for the keys of the other': [
    250,
    async (n) => {
      const cache = newCache()
      const ask = (name: string) => (keys: readonly string[]) =>
        turn()
          .then(() => Promise.allSettled(keys.map((_, at) => cache.getOrSet(`${name}${at}`, never))))
          .then(() => all(keys))
      return () =>
        Promise.all([cache.getOrSetMany(numbered(n, 'a'), ask('b')), cache.getOrSetMany(numbered(n, 'b'), ask('a'))])
    },
  ],
  'getOrSetMany, whose loader reads load.signal when the cache closes': [
    500,
    async (n) => {
      const cache = newCache()
      const batch = cache.getOrSetMany(
        numbered(n),
        (_, load) => (load.signal.addEventListener('abort', () => undefined), hang()),
      )
      void batch.catch(() => undefined)
      await turn()
      return () => cache.close({ drain: 0 })
    },
  ],
  'a recursion that remembers each step': [
    1000,
    async (n) => {
      const cache = newCache()
      const step = (at: number): Promise<number> =>
        cache.getOrSet(`step ${at}`, async () => (at === 0 ? 0 : 1 + (await step(at - 1))))
      return () => step(n)
    },
  ],
  'a recursion of which each step joins the same load': [
    500,
    async (n) => {
      const cache = newCache()
      let end = (): void => undefined
      void cache.getOrSet('shared', () => new Promise<number>((resolve) => (end = () => resolve(1))))
      await turn()
      const step = async (at: number): Promise<number> => {
        const shared = cache.getOrSet('shared', never)
        if (at === 0) end()
        else await cache.getOrSet(`step ${at}`, () => step(at - 1))
        return await shared
      }
      return () => step(n)
    },
  ],
  'getOrSet of one key': [
    1000,
    async (n) => {
      const cache = newCache()
      const wait = (): Promise<number> => turn().then(() => 1)
      return () => Promise.all(numbered(n).map(() => cache.getOrSet('k', wait)))
    },
  ],
  'getOrSet, while one load runs at a time': [
    1000,
    async (n) => {
      const cache = createCache({ ttl: '1m', maxLoads: 1, maxWaiters: 1e6 })
      return () => Promise.all(numbered(n).map((key) => cache.getOrSet(key, () => 1)))
    },
  ],
  'getOrSet with one signal, which aborts': [
    1000,
    async (n) => {
      const cache = newCache()
      const leaving = new AbortController()
      const calls = numbered(n).map((key) => rejection(cache.getOrSet(key, hang, { signal: leaving.signal })))
      await turn()
      return () => (leaving.abort(), Promise.all(calls))
    },
  ],
  'getOrSet of one key with a signal each, which abort': [
    1000,
    async (n) => {
      const cache = newCache()
      const leaving = numbered(n).map(() => new AbortController())
      const calls = leaving.map(({ signal }) => rejection(cache.getOrSet('k', hang, { signal })))
      await turn()
      return () => {
        for (const one of leaving) one.abort()
        return Promise.all(calls)
      }
    },
  ],
  'getOrSet with one signal, each answered in its turn': [
    1000,
    async (n) => {
      const cache = newCache()
      const { signal } = new AbortController()
      const ends: ((value: number) => void)[] = []
      const calls = numbered(n).map((key) =>
        cache.getOrSet(key, () => new Promise<number>((resolve) => ends.push(resolve)), { signal }),
      )
      await turn()
      return async () => {
        for (const end of ends) end(1)
        await Promise.all(calls)
      }
    },
  ],
  'delete of a key whose loads are slow': [
    500,
    async (n) => {
      const cache = newCache()
      return async () => {
        for (let at = 0; at < n; at += 1) {
          void cache.getOrSet('k', hang).catch(() => undefined)
          await turn()
          await cache.delete('k')
        }
      }
    },
  ],
  'set of a key that is being loaded': [
    500,
    async (n) => {
      const cache = newCache()
      return async () => {
        for (let at = 0; at < n; at += 1) {
          void cache.refresh('k', hang).catch(() => undefined)
          await turn()
          await cache.set('k', at)
        }
      }
    },
  ],
  getMany: [1000, async (n) => (await filled(n)).getMany.bind(await filled(n), numbered(n))],
  deleteMany: [1000, async (n) => (await filled(n)).deleteMany.bind(await filled(n), numbered(n))],
  'deleteMany of keys that are being loaded': [
    1000,
    async (n) => {
      const cache = await withFlights(n)
      return () => cache.deleteMany(numbered(n, 'running'))
    },
  ],
  clear: [1000, async (n) => (await filled(n)).clear.bind(await filled(n))],
  close: [
    1000,
    async (n) => {
      const cache = await withFlights(n)
      return () => cache.close({ drain: 0 })
    },
  ],
  'on, and off': [
    2000,
    async (n) => {
      const cache = newCache()
      return () => {
        for (const off of numbered(n).map(() => cache.on('commit', () => undefined))) off()
      }
    },
  ],
}

async function filled(n: number): Promise<Cache> {
  const cache = newCache()
  await Promise.all(numbered(n).map((key, at) => cache.set(key, at, { tags: [`tag${at}`] })))
  return cache
}

/** What one operation costs beside n others: what is under way, and the operation. */
const besides: Record<
  string,
  readonly [prepare: (n: number) => Promise<Cache>, operation: (cache: Cache, at: number) => Promise<unknown>]
> = {
  'getOrSet beside loads': [withFlights, (cache, at) => cache.getOrSet(`k${at}`, () => 1)],
  'getOrSet inside a load, beside loads': [
    withFlights,
    (cache, at) => cache.getOrSet(`k${at}`, () => cache.getOrSet(`inner ${at}`, () => 1)),
  ],
  'getOrSetMany beside loads': [withFlights, (cache, at) => cache.getOrSetMany([`k${at}`], all)],
  'lookup beside loads': [withFlights, (cache, at) => cache.lookup(`k${at}`, () => 1)],
  'refresh beside loads': [withFlights, (cache) => cache.refresh('k', () => 1)],
  'set beside loads': [withFlights, (cache) => cache.set('k', 1, { tags: ['t'] })],
  'get beside loads': [withFlights, (cache) => cache.get('k')],
  'delete beside loads': [withFlights, (cache) => cache.delete('k')],
  'expire beside loads': [withFlights, (cache) => cache.expire('k')],
  'invalidateTags beside loads': [withFlights, (cache) => cache.invalidateTags(['t'])],
  'expireTags beside loads': [withFlights, (cache) => cache.expireTags(['t'])],
  'clear beside loads': [withFlights, (cache) => cache.clear()],
  'inspect beside loads': [withFlights, (cache) => cache.inspect('running0')],
  'delete beside loads of the same key': [
    async (n) => {
      const cache = newCache()
      for (let at = 0; at < n; at += 1) {
        void cache.getOrSet('k', hang).catch(() => undefined)
        await turn()
        await cache.delete('k')
      }
      return cache
    },
    (cache) => cache.delete('k'),
  ],
  'a call with a signal beside calls with that signal': [
    async (n) => {
      const cache = newCache()
      for (const key of numbered(n, 'running'))
        void cache.getOrSet(key, hang, { signal: shared }).catch(() => undefined)
      await turn()
      return cache
    },
    (cache, at) => cache.getOrSet(`k${at}`, () => 1, { signal: shared }),
  ],
  'invalidateTags beside stale keys of 100 tags that are not refreshed for now': [
    (n) => withSuppressed(n),
    (cache) => cache.invalidateTags(numbered(100, 'other')),
  ],
  'expireTags beside calls that wait for another process': [
    async (n) => {
      const fleet = createFleet({ maxWaiters: 1e6 })
      const [cache] = fleet.caches
      for (const key of numbered(n)) {
        await fleet.store.acquire(key, { duration: 5000, seen: '', wake: false })
        void cache.getOrSet(key, hang).catch(() => undefined)
      }
      await settle(fleet)
      return cache
    },
    (cache) => cache.expireTags(['t']),
  ],
  'on, and off, beside listeners': [
    async (n) => {
      const cache = newCache()
      for (let at = 0; at < n; at += 1) cache.on('commit', () => undefined)
      return cache
    },
    async (cache) => cache.on('commit', () => undefined)(),
  ],
}

const { signal: shared } = new AbortController()

/** Stale keys with 100 tags each, whose refresh another process does. */
async function withSuppressed(n: number): Promise<Cache> {
  const fleet = createFleet({ staleWhileRevalidate: '1m' })
  const [cache] = fleet.caches
  await Promise.all(numbered(n).map((key) => cache.set(key, 1, { tags: numbered(100, `${key} `) })))
  await fleet.runtime.advance(10_001)
  fleet.store.acquire = () => Promise.resolve({ kind: 'held', remaining: 5000 })
  await Promise.all(numbered(n).map((key) => cache.getOrSet(key, never)))
  await settle(fleet)
  return cache
}

describe('the work of n', () => {
  it.each(Object.entries(operations))('grows no faster than n: %s', async (_, [n, scenario]) => {
    expect(await growth(n, 8, scenario)).toBeLessThan(8)
  })
})

describe('the work of 100 operations', () => {
  it.each(Object.entries(besides))('does not grow with what else is under way: %s', async (_, [prepare, operation]) => {
    const scenario: Scenario = async (n) => {
      const cache = await prepare(n)
      return async () => {
        for (let at = 0; at < 100; at += 1) await operation(cache, at)
      }
    }
    expect(await growth(200, 2.5, scenario)).toBeLessThan(2.5)
  })
})
