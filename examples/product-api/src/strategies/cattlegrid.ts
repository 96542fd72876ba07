import { createCache } from '@cattlegrid/core'
import { explain, type Explanation } from '@cattlegrid/explain'
import { redisStore } from '@cattlegrid/redis'
import { connectRedis } from './redis-client.ts'
import { TTL_MS, type Strategy, type StrategyOptions } from './strategy.ts'

export interface TaggedEntries {
  /** Stores so many further entries under the tag `catalogue`. */
  fill(count: number): Promise<void>
  /** Makes all entries with the tag stale; returns the time of that call, ms. */
  softPurge(): Promise<number>
}

export interface Explained {
  /** The story of the ranking's key, over all processes. */
  explain(): Promise<Explanation>
}

const KEY = 'ranking'
const TAGS = ['catalogue']
const FILL_AT_ONCE = 250

/** One load for all processes, under a lease; while it runs the others are served the stale copy, or wait where there is none. */
export async function cattlegrid({
  redisUrl,
  namespace,
  load,
}: StrategyOptions): Promise<Strategy & TaggedEntries & Explained> {
  const client = await connectRedis(redisUrl)
  const cache = createCache({
    store: redisStore({ client, namespace }),
    ttl: TTL_MS,
    staleWhileRevalidate: '30s',
    staleIfError: '5m',
    lease: { duration: '2s' },
    // Longer than the default: in the demo Redis shares the machine with the database, the APIs and the load generator.
    storeTimeout: '1s',
  })
  const diagnosis = explain(cache)
  return {
    async answer() {
      const { value, status, waited } = await cache.lookup(KEY, load, { tags: TAGS })
      return { ranking: value, status, waited: waited > 0 }
    },
    expire: () => cache.expire(KEY),
    invalidate: () => cache.delete(KEY),
    explain: () => diagnosis.explain(KEY),
    leads: () => cache.stats().leases > 0,
    waiting: () => cache.stats().waiting,
    close: async () => {
      await cache.close()
      client.destroy()
    },

    async fill(count) {
      for (let first = 0; first < count; first += FILL_AT_ONCE) {
        const keys = Array.from(
          { length: Math.min(FILL_AT_ONCE, count - first) },
          (_, place) => `product:${first + place}`,
        )
        await Promise.all(keys.map((key) => cache.set(key, key, { ttl: '5m', staleWhileRevalidate: '5m', tags: TAGS })))
      }
    },
    async softPurge() {
      const began = performance.now()
      await cache.expireTags(TAGS)
      return performance.now() - began
    },
  }
}
