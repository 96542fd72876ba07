import { createCache, memoryStore } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { astroCache } from '@cattlegrid/web/astro'

const { REDIS_URL } = process.env

// The memory store serves one process. On Redis, all processes with this namespace share their entries.
const cache = createCache({
  store: REDIS_URL ? redisStore({ url: REDIS_URL, namespace: 'shop' }) : memoryStore(),
})

// Every other page stores only what it declares, by `Astro.cache.set`.
export default astroCache(cache, {
  cacheStatus: true,
  paths: { '/': { ttl: '30s', staleWhileRevalidate: '5m', tags: ['products'] } },
})
