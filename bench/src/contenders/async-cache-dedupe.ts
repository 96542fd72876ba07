import { createCache } from 'async-cache-dedupe'
import { Redis } from 'ioredis'
import type { Open } from './contender.ts'

const seconds = (ms: number): number => Math.max(1, Math.round(ms / 1000))

export const open: Open = async ({ load, ttl, stale, redis, namespace }) => {
  const client = redis === undefined ? undefined : new Redis(redis, { keyPrefix: `${namespace}:` })
  const cache = createCache({
    ttl: seconds(ttl),
    ...(stale > 0 ? { stale: seconds(stale) } : {}),
    storage:
      client === undefined ? { type: 'memory', options: { size: 10_000 } } : { type: 'redis', options: { client } },
  }).define('value', (key: string) => load(key))
  return {
    get: (key) => cache.value(key),
    close: async () => client?.disconnect(),
  }
}
