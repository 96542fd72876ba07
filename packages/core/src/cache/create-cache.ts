import { AdmissionControl } from '../flight/admission-control.ts'
import type { Cache } from './cache.ts'
import { Pause } from '../flight/pause.ts'
import { LoadLimits } from '../flight/load-limits.ts'
import { CodecCheck } from '../flight/codec-check.ts'
import { debugEvents } from '../events/debug-log.ts'
import { LoadCoordinator } from '../flight/coordinator.ts'
import { emitAway } from '../flight/emit-away.ts'
import { DefaultCache } from './default-cache.ts'
import { Events } from '../events/events.ts'
import { Lifecycle } from './lifecycle.ts'
import { RefreshBudget } from '../flight/refresh-budget.ts'
import type { CacheOptions } from '../options/options.ts'
import { formatDuration } from '../option-rules/format-duration.ts'
import { doublingCooldown } from '../policy/cooldown.ts'
import { earlyRefresh } from '../policy/early-refresh.ts'
import { limitThatFollows } from '../policy/load-limit.ts'
import { windowFreshness } from '../policy/freshness.ts'
import { type CacheSetup, cacheSetup } from '../options/parse-cache-options.ts'
import type { RemoteLimits } from '../store/remote/remote-limits.ts'
import { runDetached, type Runtime, systemRuntime } from '../runtime/runtime.ts'
import { memoryStore } from '../store/memory/memory-store.ts'
import { disabledStore } from '../store/disabled-store.ts'
import { remoteStore } from '../store/remote/remote-store.ts'
import { Activity } from '../activity.ts'
import type { Store } from '../store/store.ts'

/**
 * Creates a cache. Without a `store` it keeps its entries in this process.
 *
 * @example
 * import { createCache } from '@cattlegrid/core'
 *
 * const cache = createCache({ ttl: '30s', staleWhileRevalidate: '5m' })
 * await cache.getOrSet('product:7', async () => ({ id: 7 }))
 * @throws InvalidOptionError for an option that is unknown, has an invalid value, or does not fit another
 * one; for a shared store that is closed.
 */
export function createCache(options?: CacheOptions): Cache {
  const setup = cacheSetup(options)
  // The timers and connections of a cache that a request creates would keep that request's context for as
  // long as they last.
  return runDetached(() => wireCache(setup))
}

function wireCache(setup: CacheSetup): Cache {
  const { name, settings, limits, refreshLimits, runtime, enabled, strictCodec } = setup
  const events = new Events(name)
  debugEvents(events)
  const store = enabled ? openStore(setup, events) : disabledStore(setup.store, runtime)
  const services = {
    store,
    runtime,
    events,
    activity: new Activity(store.shared),
    freshness: windowFreshness,
    cooldown: doublingCooldown,
    earlyRefresh: earlyRefresh(() => runtime.random()),
    admission: new AdmissionControl(limits),
    permits: new LoadLimits(limits.maxLoads, limitThatFollows, store, runtime, events),
    refreshBudget: refreshLimits && new RefreshBudget(refreshLimits, store, runtime),
    codecCheck: new CodecCheck(strictCodec, events),
    pause: new Pause(runtime, enabled, (pausedFor) => events.warn(pauseText(pausedFor))),
  }
  warnOfOtherTime(setup, events)
  const coordinator = new LoadCoordinator(services)
  return new DefaultCache(coordinator, new Lifecycle(coordinator), setup.store ?? store, settings)
}

/**
 * A store in this process that goes by another time than its cache: what it stores is gone at once, or never.
 */
function warnOfOtherTime({ store, runtime }: CacheSetup, events: Events): void {
  const { runtime: own } = (store ?? {}) as { readonly runtime?: Runtime }
  // Each copy of this package has its own system runtime.
  if (own === undefined || runtime === systemRuntime || own.now === runtime.now) return
  const message =
    'The memory store and its cache have two sources of time. Give both the same: createCache({ runtime, store: memoryStore({ runtime }) }).'
  events.warn(message, 'CATTLEGRID_TWO_RUNTIMES')
}

/** What an operator did in all processes, for the log of this one. */
function pauseText(pausedFor: number): string {
  return pausedFor > 0
    ? `An operator has paused the caches of this namespace in all processes, for ${formatDuration(pausedFor)}: every call runs its own loader, and nothing is stored. \`cattlegrid resume\` ends it.`
    : 'The pause of the caches of this namespace in all processes has ended.'
}

function openStore({ store, remote, runtime }: CacheSetup, events: Events): Store {
  if (store === undefined) return memoryStore({ runtime })
  return store.shared ? withRemoteDecorators(store, events, remote, runtime) : store
}

/** Only a shared store is decorated: the memory store answers at once. */
function withRemoteDecorators(store: Store, events: Events, remote: RemoteLimits, runtime: Runtime): Store {
  return remoteStore(store, runtime, remote, (key, away) => emitAway(events, key, 'acquire', away))
}
