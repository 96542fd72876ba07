import { BentoCache, bentostore } from 'bentocache'
import { memoryDriver } from 'bentocache/drivers/memory'
import { redisDriver } from 'bentocache/drivers/redis'
import { Redis } from 'ioredis'
import type { Open } from './contender.ts'

export const open: Open = async ({ load, ttl, stale, redis, namespace }) => {
  const connection = redis === undefined ? undefined : new Redis(redis)
  const store =
    connection === undefined
      ? bentostore().useL1Layer(memoryDriver({ maxItems: 10_000 }))
      : bentostore().useL2Layer(redisDriver({ connection, prefix: namespace }))
  const cache = new BentoCache({ default: 'cache', stores: { cache: store } })
  // `timeout: 0`: while a grace value is in hand nobody waits for the factory.
  const windows = stale > 0 ? { ttl, grace: stale, timeout: 0 } : { ttl }
  return {
    get: (key) => cache.getOrSet({ key, factory: () => load(key), ...windows }),
    close: () => cache.disconnectAll(),
  }
}
