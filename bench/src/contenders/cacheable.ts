import { createKeyv } from '@keyv/redis'
import { Cacheable } from 'cacheable'
import type { Open } from './contender.ts'

export const open: Open = async ({ load, ttl, redis, namespace }) => {
  const primary = redis === undefined ? undefined : createKeyv(redis, { namespace })
  const cache = new Cacheable(primary === undefined ? { ttl } : { ttl, primary })
  return {
    get: (key) => cache.getOrSet(key, () => load(key), { ttl }),
    close: () => cache.disconnect(),
  }
}
