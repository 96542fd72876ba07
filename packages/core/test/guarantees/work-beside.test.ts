import { describe, expect, it } from '@jest/globals'
import type { Cache } from '@cattlegrid/core'
import { createFleet, settle } from '../support/fleet.ts'
import { all, growth, hang, newCache, numbered, type Scenario, turn, withFlights } from '../support/growth.ts'
import { never } from '../support/memory-cache.ts'

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

describe('the work of 100 operations', () => {
  it.each(Object.entries(besides))('does not grow with what else is under way: %s', async (_, [prepare, operation]) => {
    const scenario: Scenario = async (n) => {
      const cache = await prepare(n)
      return async () => {
        for (let at = 0; at < 100; at += 1) await operation(cache, at)
      }
    }
    expect(await growth(100, 0.66, scenario)).toBeLessThan(0.66)
  })
})
