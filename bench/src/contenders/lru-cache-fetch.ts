import { AsyncLocalStorage } from 'node:async_hooks'
import { LRUCache } from 'lru-cache'
import type { Open, Opened } from './contender.ts'

const LOAD_TIMEOUT = 30_000

/** Keeps everything in the process, whatever is asked of it. */
export const open: Open = async ({ load, ttl, stale }) => fetching(load, ttl, stale)

/**
 * The same, with what a loader that asks the cache again needs: each load runs in a scope, which is switched off while none runs because it slows every promise of
 * the process, and ends by a time-out.
 */
export const openScoped: Open = async ({ load, ttl, stale }) => {
  const scopes = new AsyncLocalStorage<object>()
  let running = 0
  const loadInScope = async (key: string): Promise<unknown> => {
    running += 1
    const timer = setTimeout(() => undefined, LOAD_TIMEOUT).unref()
    try {
      return await scopes.run({ key }, load, key)
    } finally {
      clearTimeout(timer)
      running -= 1
      if (running === 0) scopes.disable()
    }
  }
  return fetching(loadInScope, ttl, stale)
}

function fetching(load: (key: string) => Promise<unknown>, ttl: number, stale: number): Opened {
  const cache = new LRUCache<string, object>({
    max: 10_000,
    ttl,
    allowStale: stale > 0,
    fetchMethod: async (key) => (await load(key)) as object,
  })
  return { get: (key) => cache.fetch(key), close: async () => cache.clear() }
}
