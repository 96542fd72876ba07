import { Admission } from './admission.ts'
import type { Cache } from './cache.ts'
import { EngineCache } from './engine-cache.ts'
import { Events } from './events.ts'
import type { CacheOptions } from './options.ts'
import { doublingCooldown } from './policy/cooldown.ts'
import { earlyRefresh } from './policy/early-refresh.ts'
import { windowFreshness } from './policy/freshness.ts'
import { cacheSetup } from './parse-options.ts'
import { guardedStore } from './store/guarded-store.ts'
import { memoryStore } from './store/memory-store.ts'

/**
 * Makes a cache. Without a `store` it keeps its entries in this process.
 *
 * @throws InvalidOptionError for an option that is unknown or has a value it cannot have.
 */
export function createCache(options?: CacheOptions): Cache {
  const { settings, limits, store, storeTimeout, runtime } = cacheSetup(options)
  const engine = {
    // The memory store stands bare: it answers at once.
    store: store?.shared === true ? guardedStore(store, runtime, storeTimeout) : (store ?? memoryStore({ runtime })),
    runtime,
    events: new Events(),
    freshness: windowFreshness,
    cooldown: doublingCooldown,
    earlyRefresh: earlyRefresh(() => runtime.random()),
    admission: new Admission(limits),
  }
  return new EngineCache(engine, settings)
}
