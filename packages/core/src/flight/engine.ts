import type { Admission, Party } from './admission-control.ts'
import type { Events } from '../events.ts'
import type { Former } from './previous-version.ts'
import type { Loader } from '../load.ts'
import type { CooldownPolicy, EarlyRefreshPolicy, FreshnessPolicy } from '../policy/policy.ts'
import type { Runtime } from '../runtime.ts'
import type { Settings } from '../options/settings.ts'
import type { Store } from '../store/store.ts'

/** What every part of the engine works with; put together once, by `createCache`. */
export interface Engine {
  readonly store: Store
  readonly runtime: Runtime
  readonly events: Events
  readonly freshness: FreshnessPolicy
  readonly cooldown: CooldownPolicy
  readonly earlyRefresh: EarlyRefreshPolicy
  readonly admission: Admission
}

/** One call on its road: what it asks for, and how. */
export interface Call {
  /** What the entry is kept by. */
  readonly key: string
  /** What the caller named. */
  readonly asked: string
  readonly loader: Loader<unknown, never>
  readonly settings: Settings
  /** What will not do, however fresh it is. */
  readonly former?: Former | undefined
  /** The load is part of another one that has a turn; its callers are one waiter. */
  readonly party?: Party
  /** Told when the call begins to wait for somebody else's load. */
  readonly onWait?: () => void
}
