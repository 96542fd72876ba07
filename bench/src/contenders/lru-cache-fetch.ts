import { LRUCache } from 'lru-cache'
import type { Open } from './contender.ts'

/** Keeps everything in the process, whatever is asked of it. */
export const open: Open = async ({ load, ttl, stale }) => {
  const cache = new LRUCache<string, object>({
    max: 10_000,
    ttl,
    allowStale: stale > 0,
    fetchMethod: async (key) => (await load(key)) as object,
  })
  return { get: (key) => cache.fetch(key), close: async () => cache.clear() }
}
