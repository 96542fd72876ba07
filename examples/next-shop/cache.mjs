import { createCache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'

let cache

/** One cache for both handlers, made when the server first needs it. */
export function sharedCache() {
  cache ??= createCache({ name: 'shop', store: redisStore({ url: process.env.REDIS_URL, namespace: 'shop' }) })
  return cache
}
