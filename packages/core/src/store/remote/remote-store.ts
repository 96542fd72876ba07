import type { RemoteLimits } from './remote-limits.ts'
import type { Runtime } from '../../runtime.ts'
import { guardedStore } from './guarded-store.ts'
import { nearStore } from './near-store.ts'
import { type OnAway, outageStore } from './outage-store.ts'
import type { Store } from '../store.ts'
import { tagStore } from './tag-store.ts'

/** A shared store as the engine is to see it: `near(outage(guarded(tags(store))))`. What a read costs by its tags counts into its deadline. */
export function remoteStore(store: Store, runtime: Runtime, limits: RemoteLimits, onAway: OnAway): Store {
  const { storeTimeout, tagMaxAge, near, outage } = limits
  const guarded = guardedStore(tagStore(store, runtime, tagMaxAge), runtime, storeTimeout)
  const lasting = outage === undefined ? guarded : outageStore(guarded, runtime, outage, onAway)
  return near === undefined ? lasting : nearStore(lasting, runtime, near)
}
