import { describe, expect, it } from '@jest/globals'
import { type Cache, createCache } from '@cattlegrid/core'
import { systemRuntime } from '@cattlegrid/core/extend'
import { LeaseWaiters } from '../../src/flight/lease-waiters.ts'
import { rejection } from '../support/fleet.ts'
import { all, growth, hang, newCache, numbered, type Scenario, turn, withFlights } from '../support/growth.ts'
import { never } from '../support/memory-cache.ts'

/** By what one operation does with n. */
const operations: Record<string, readonly [n: number, scenario: Scenario]> = {
  'getOrSetMany, whose loader calls getOrSet for each key': [
    250,
    async (n) => {
      const cache = newCache()
      const part = (key: string): Promise<number> => cache.getOrSet(`part of ${key}`, () => 1)
      return () => cache.getOrSetMany(numbered(n), async (keys) => (await Promise.all(keys.map(part)), all(keys)))
    },
  ],
  'getOrSetMany, whose loader calls getOrSetMany': [
    250,
    async (n) => {
      const cache = newCache()
      return () =>
        cache.getOrSetMany(
          numbered(n),
          async (keys) => (await cache.getOrSetMany(numbered(n, 'inner'), all), all(keys)),
        )
    },
  ],
  'getOrSetMany, whose loader asks for its own keys': [
    250,
    async (n) => {
      const cache = newCache()
      const ask = (key: string): Promise<unknown> => rejection(cache.getOrSet(key, never))
      return () => cache.getOrSetMany(numbered(n), async (keys) => (await Promise.all(keys.map(ask)), all(keys)))
    },
  ],
  'two calls of getOrSetMany, of which each asks for the keys of the other': [
    125,
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
    250,
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
    500,
    async (n) => {
      const cache = newCache()
      const step = (at: number): Promise<number> =>
        cache.getOrSet(`step ${at}`, async () => (at === 0 ? 0 : 1 + (await step(at - 1))))
      return () => step(n)
    },
  ],
  'a recursion of which each step joins the same load': [
    250,
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
    500,
    async (n) => {
      const cache = newCache()
      const wait = (): Promise<number> => turn().then(() => 1)
      return () => Promise.all(numbered(n).map(() => cache.getOrSet('k', wait)))
    },
  ],
  'getOrSet, while one load runs at a time': [
    500,
    async (n) => {
      const cache = createCache({ ttl: '1m', maxLoads: 1, maxWaiters: 1e6 })
      return () => Promise.all(numbered(n).map((key) => cache.getOrSet(key, () => 1)))
    },
  ],
  'getOrSet with one signal, which aborts': [
    500,
    async (n) => {
      const cache = newCache()
      const leaving = new AbortController()
      const calls = numbered(n).map((key) => rejection(cache.getOrSet(key, hang, { signal: leaving.signal })))
      await turn()
      return () => (leaving.abort(), Promise.all(calls))
    },
  ],
  'getOrSet of one key with a signal each, which abort': [
    500,
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
    500,
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
    250,
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
  // On its own: a visit takes nanoseconds, which the rest of a delete hides.
  'notices of a key whose loads are slow': [
    500,
    async (n) => {
      const waiters = new LeaseWaiters(systemRuntime)
      for (let at = 0; at < n; at += 1) waiters.register('k')
      return () => {
        for (let at = 0; at < n; at += 1) waiters.wake('k')
      }
    },
  ],
  'set of a key that is being loaded': [
    250,
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
  getMany: [500, async (n) => (await filled(n)).getMany.bind(await filled(n), numbered(n))],
  setMany: [
    500,
    async (n) => (await filled(n)).setMany.bind(await filled(n), new Map(numbered(n).map((key) => [key, 1]))),
  ],
  deleteMany: [500, async (n) => (await filled(n)).deleteMany.bind(await filled(n), numbered(n))],
  'deleteMany of keys that are being loaded': [
    500,
    async (n) => {
      const cache = await withFlights(n)
      return () => cache.deleteMany(numbered(n, 'running'))
    },
  ],
  clear: [500, async (n) => (await filled(n)).clear.bind(await filled(n))],
  close: [
    500,
    async (n) => {
      const cache = await withFlights(n)
      return () => cache.close({ drain: 0 })
    },
  ],
  'on, and off': [
    1000,
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

describe('the work of n', () => {
  it.each(Object.entries(operations))('grows no faster than n: %s', async (_, [n, scenario]) => {
    expect(await growth(n, 1.5, scenario)).toBeLessThan(1.5)
  })
})
