import { createKeyv } from '@keyv/redis'
import { createCache } from 'cache-manager'
import type { Open } from './contender.ts'

export const open: Open = async ({ load, ttl, redis, namespace }) => {
  const store = redis === undefined ? undefined : createKeyv(redis, { namespace })
  const cache = createCache(store === undefined ? { ttl } : { ttl, stores: [store] })
  return {
    get: (key) => cache.wrap(key, () => load(key), ttl),
    close: () => cache.disconnect(),
  }
}
