import type { Runtime } from '../../runtime/runtime.ts'
import type { Store } from '../store.ts'
import { guardedStore } from './guarded-store.ts'
import { nearStore } from './near-store.ts'
import { type OnAway, fallbackStore } from './fallback-store.ts'
import type { RemoteLimits } from './remote-limits.ts'
import { tagStore } from './tag-store.ts'

/**
 * Decorates a shared store for the engine: `near(fallback(tags(guarded(store))))`. The tags are judged
 * outside the guard: their numbers are a step of their own, which another node may answer. That step has what
 * the read has left of the call's time for the store.
 */
export function remoteStore(store: Store, runtime: Runtime, limits: RemoteLimits, onAway: OnAway): Store {
  const { storeTimeout, patience, tagMaxAge, near, outage } = limits
  const guarded = guardedStore(store, runtime, storeTimeout, patience)
  const tags = tagStore(guarded, runtime, { maxAge: tagMaxAge, outageMaxAge: outage.maxAge })
  const fallback = fallbackStore(tags, runtime, outage, onAway)
  return near === undefined ? fallback : nearStore(fallback, runtime, near)
}
