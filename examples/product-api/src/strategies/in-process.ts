import { createCache } from '@cattlegrid/core'
import { TTL_MS, type Strategy, type StrategyOptions } from './strategy.ts'

/** A cache in the memory of each process: it merges the loads of one process, and knows nothing of the others. */
export async function inProcess({ load }: StrategyOptions): Promise<Strategy> {
  const cache = createCache({ ttl: TTL_MS, isFailure: () => false })
  const remove = (): Promise<void> => cache.delete('ranking')
  return {
    async answer() {
      const { value, status, waited } = await cache.lookup('ranking', load)
      return { ranking: value, status, waited: waited > 0 }
    },
    expire: remove,
    // Reaches the memory of this process only.
    invalidate: remove,
    leads: () => false,
    waiting: () => cache.stats().waiting,
    close: () => cache.close(),
  }
}
