import { Redis } from 'ioredis'
import { Loader, RedisCache } from 'layered-loader'
import type { Open } from './contender.ts'

export const open: Open = async ({ load, ttl, stale, redis, namespace }) => {
  const client = redis === undefined ? undefined : new Redis(redis)
  // Its way to serve while it refreshes: ahead of the expiry.
  const early = stale > 0 ? { ttlLeftBeforeRefreshInMsecs: stale } : {}
  const life = ttl + stale
  const loader = new Loader<unknown>({
    inMemoryCache:
      client === undefined ? { cacheType: 'lru-map', ttlInMsecs: life, maxItems: 10_000, ...early } : false,
    ...(client === undefined
      ? {}
      : { asyncCache: new RedisCache<unknown>(client, { ttlInMsecs: life, prefix: namespace, json: true, ...early }) }),
    dataSourceGetOneFn: load,
    // A loader that fails is part of a scenario, and no news.
    logger: { error: () => undefined },
  })
  await loader.init()
  return {
    get: async (key) => await loader.get(key),
    close: async () => {
      await loader.close()
      client?.disconnect()
    },
  }
}
