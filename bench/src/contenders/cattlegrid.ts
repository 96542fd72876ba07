import { type CacheOptions, createCache } from '@cattlegrid/core'
import { explain } from '@cattlegrid/explain'
import { redisStore } from '@cattlegrid/redis'
import type { Open } from './contender.ts'
import { connected } from './node-redis.ts'

/** The machine that measures is busy by nature: nothing here is about the time-out. */
const PATIENT = '20s'

/** With whatever options the scenario is about. `explained`: its events are recorded for a diagnosis. */
export function openWith({ explained = false, ...options }: CacheOptions & { readonly explained?: boolean }): Open {
  return async ({ load, ttl, stale, redis, namespace }) => {
    const client = redis === undefined ? undefined : await connected(redis)
    const cache = createCache({
      ttl,
      staleWhileRevalidate: stale,
      ...(client === undefined ? {} : { store: redisStore({ client, namespace }), storeTimeout: PATIENT }),
      ...options,
    })
    if (explained) explain(cache)
    return {
      get: (key) => cache.getOrSet(key, () => load(key)),
      close: async () => {
        await cache.close()
        client?.destroy()
      },
    }
  }
}
