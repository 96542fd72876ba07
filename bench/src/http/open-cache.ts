import { type Cache, createCache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { connected } from '../contenders/node-redis.ts'
import type { OriginTraits } from './origin.ts'

/** In Redis, if there is one, with copies in the process; else in the process alone. */
export async function openCache({ redis, namespace }: OriginTraits): Promise<Cache> {
  if (redis === undefined) return createCache()
  const client = await connected(redis)
  return createCache({ store: redisStore({ client, namespace }), near: {}, storeTimeout: '20s' })
}
