import { createCache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'

export default {
  name: 'cattlegrid',
  packages: ['@cattlegrid/core', '@cattlegrid/redis'],
  setup: {
    text: 'createCache({ store: redisStore({ url }), ttl, staleWhileRevalidate, staleIfError })',
    source: 'https://github.com/cattlegrid/cattlegrid#readme',
  },
  offers: ['fleet', 'stale', 'delete', 'tags', 'signal'],
  async open({ redisUrl, prefix, ttl, stale }) {
    const store = redisStore({ url: redisUrl, namespace: prefix })
    const cache = createCache({ store, ttl, staleWhileRevalidate: stale, staleIfError: stale })
    return {
      getOrSet: (key, load, options) => cache.getOrSet(key, load, options),
      delete: (key) => cache.delete(key),
      invalidateTag: (tag) => cache.invalidateTags([tag]),
    }
  },
}
