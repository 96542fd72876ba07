import { createBlobStorage, defineCachedFunction } from 'ocache'
import { RESP_TYPES } from 'redis'
import type { Open } from './contender.ts'
import { connected } from './node-redis.ts'

const seconds = (ms: number): number => ms / 1000

export const open: Open = async ({ load, ttl, stale, redis, namespace }) => {
  const client = redis === undefined ? undefined : await connected(redis)
  const bytes = client?.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer })
  const storage =
    client === undefined
      ? undefined
      : createBlobStorage({
          // Its frames are bytes: read as text they would come back as something else.
          get: (key) => bytes?.get(`${namespace}:${key}`) ?? null,
          set: async (key, value, options) => {
            if (value === null) await client.del(`${namespace}:${key}`)
            else
              await client.set(`${namespace}:${key}`, Buffer.from(value), {
                expiration: { type: 'PX', value: Math.max(1, Math.round((options?.ttl ?? 3600) * 1000)) },
              })
          },
        })
  const get = defineCachedFunction((key: string) => load(key), {
    name: 'value',
    getKey: (key) => key,
    maxAge: seconds(ttl),
    swr: stale > 0,
    staleMaxAge: seconds(stale),
    ...(storage === undefined ? {} : { storage }),
  })
  return { get: async (key) => await get(key), close: async () => await client?.close() }
}
