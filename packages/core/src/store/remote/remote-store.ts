import type { Runtime } from '../../runtime/runtime.ts'
import type { Store } from '../store.ts'
import { guardedStore } from './guarded-store.ts'
import { nearStore } from './near-store.ts'
import { type OnAway, outageStore } from './outage-store.ts'
import type { RemoteLimits } from './remote-limits.ts'
import { tagStore } from './tag-store.ts'

/** Decorates a shared store for the engine: `near(outage(guarded(tags(store))))`. The deadline of a read includes the read of its tags. */
export function remoteStore(store: Store, runtime: Runtime, limits: RemoteLimits, onAway: OnAway): Store {
  const { storeTimeout, patience, tagMaxAge, near, outage } = limits
  const guarded = guardedStore(tagStore(store, runtime, tagMaxAge), runtime, storeTimeout, patience)
  const withOutage = outage === undefined ? guarded : outageStore(guarded, runtime, outage, onAway)
  return near === undefined ? withOutage : nearStore(withOutage, runtime, near)
}
