import type { AdmissionControl } from './admission-control.ts'
import type { Events } from '../events.ts'
import type { CooldownPolicy, EarlyRefreshPolicy, FreshnessPolicy } from '../policy/policy.ts'
import type { Runtime } from '../runtime.ts'
import type { Store } from '../store/store.ts'

/** What every part of the engine works with; put together once, by `createCache`. */
export interface Engine {
  readonly store: Store
  readonly runtime: Runtime
  readonly events: Events
  readonly freshness: FreshnessPolicy
  readonly cooldown: CooldownPolicy
  readonly earlyRefresh: EarlyRefreshPolicy
  readonly admission: AdmissionControl
}
