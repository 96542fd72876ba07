import type { AdmissionControl } from './admission-control.ts'
import type { CodecCheck } from './codec-check.ts'
import type { Events } from '../events/events.ts'
import type { RefreshBudget } from './refresh-budget.ts'
import type { CooldownPolicy, EarlyRefreshPolicy, FreshnessPolicy } from '../policy/policy.ts'
import type { Pause } from './pause.ts'
import type { LoadLimits } from './load-limits.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Activity } from '../activity.ts'
import type { Store } from '../store/store.ts'

/** The store, the policies and the services of one cache. `createCache` wires them. */
export interface EngineServices {
  readonly store: Store
  readonly runtime: Runtime
  readonly events: Events
  readonly activity: Activity
  readonly freshness: FreshnessPolicy
  readonly cooldown: CooldownPolicy
  readonly earlyRefresh: EarlyRefreshPolicy
  readonly admission: AdmissionControl
  readonly permits: LoadLimits
  /** Undefined: background refreshes have no limit. */
  readonly refreshBudget: RefreshBudget | undefined
  readonly codecCheck: CodecCheck
  readonly pause: Pause
}
