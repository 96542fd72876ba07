import { type Cache, type CacheEntry, cachified } from '@epic-web/cachified'
import { LRUCache } from 'lru-cache'
import type { Open } from './contender.ts'
import { connected } from './node-redis.ts'

interface Backing {
  readonly cache: Cache
  readonly close: () => Promise<unknown>
}

export const open: Open = async ({ load, ttl, stale, redis, namespace }) => {
  const { cache, close } = redis === undefined ? inMemory() : await inRedis(redis, namespace)
  return {
    get: (key) => cachified({ key, cache, ttl, swr: stale, getFreshValue: () => load(key) }),
    close,
  }
}

function inMemory(): Backing {
  return { cache: new LRUCache<string, CacheEntry>({ max: 10_000 }), close: async () => undefined }
}

/** As its documentation shows it for Redis. */
async function inRedis(url: string, namespace: string): Promise<Backing> {
  const client = await connected(url)
  const cache: Cache = {
    async get(key) {
      const text = await client.get(`${namespace}:${key}`)
      return text === null ? null : (JSON.parse(text) as CacheEntry)
    },
    async set(key, entry) {
      const { ttl, swr } = entry.metadata
      const life = (ttl ?? 0) + (swr ?? 0)
      await client.set(`${namespace}:${key}`, JSON.stringify(entry), { expiration: { type: 'PX', value: life } })
    },
    async delete(key) {
      await client.del(`${namespace}:${key}`)
    },
  }
  return { cache, close: () => client.close() }
}
