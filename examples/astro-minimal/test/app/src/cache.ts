import { createCache, memoryStore } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { astroCache } from '@cattlegrid/web/astro'

const { REDIS_URL } = process.env
const cache = createCache({ store: REDIS_URL ? redisStore({ url: REDIS_URL, namespace: 'astro' }) : memoryStore() })

export default astroCache(cache, {
  cacheStatus: true,
  paths: {
    '/shop/*': { ttl: '1h', query: ['page'] },
    '/shop/brief': { ttl: '50ms', staleWhileRevalidate: '1h' },
    '/shop/failing': { ttl: '50ms', staleIfError: '1h' },
  },
})
