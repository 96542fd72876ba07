import { type Cache, createCache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { connected } from '../contenders/node-redis.ts'
import { openTold } from '../contenders/told-by-push.ts'
import { type Origin, type OriginTraits, text } from './origin.ts'

/** In Redis, if there is one, with copies in the process; else in the process alone. */
export async function openCache({ redis, namespace }: OriginTraits): Promise<Cache> {
  if (redis === undefined) return createCache()
  const client = await connected(redis)
  return createCache({ store: redisStore({ client, namespace }), near: {}, storeTimeout: '20s' })
}

/** The body that one run of the handler gives to all processes, told them by a push. */
export async function openRuns(origin: Origin): Promise<(url: string) => Promise<string>> {
  const load = async (): Promise<string> => {
    if (await origin.run()) return text
    throw new Error('the origin has nothing to give')
  }
  const { get } = await openTold({ ...origin.traits, load })
  return async (url) => String(await get(url))
}
