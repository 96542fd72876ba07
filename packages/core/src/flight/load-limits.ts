import type { Events } from '../events/events.ts'
import type { LoadLimitPolicy } from '../policy/policy.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Store } from '../store/store.ts'
import { AutoPermits } from './auto-permits.ts'
import { Permits, type PermitSource, ViewPermits } from './permits.ts'

/** The source of a cache's loads, where nothing names it. */
const SOURCE = 'default'

/**
 * The limits on loads at once of a cache and of its views: of each source with `maxLoads: 'auto'`, one that
 * they share.
 */
export class LoadLimits {
  /** The permits of loads outside every view. */
  readonly ofCache: PermitSource
  readonly #store: Store
  readonly #runtime: Runtime
  readonly #events: Events
  readonly #policy: LoadLimitPolicy
  readonly #bySource = new Map<string, AutoPermits>()

  constructor(maxLoads: number | 'auto', policy: LoadLimitPolicy, store: Store, runtime: Runtime, events: Events) {
    this.#policy = policy
    this.#store = store
    this.#runtime = runtime
    this.#events = events
    this.ofCache = maxLoads === 'auto' ? this.#following(SOURCE) : new Permits(maxLoads)
  }

  /** The permits of a view of what has `outer`. */
  ofView(outer: PermitSource, maxLoads: number | 'auto' | undefined, source: string | undefined): PermitSource {
    if (maxLoads !== undefined && maxLoads !== 'auto') {
      const own = new Permits(maxLoads)
      // The limit that follows one source does not count for the loads of another.
      return source !== undefined && outer instanceof AutoPermits ? own : new ViewPermits(own, outer)
    }
    const follows = maxLoads === 'auto' || (source !== undefined && outer instanceof AutoPermits)
    if (!follows) return outer
    const own = this.#following(source ?? SOURCE)
    return outer instanceof AutoPermits ? own : new ViewPermits(own, outer)
  }

  #following(source: string): AutoPermits {
    const known = this.#bySource.get(source)
    if (known !== undefined) return known
    const permits = new AutoPermits(
      this.#policy,
      source,
      this.#store,
      this.#runtime,
      ({ atOnce: limit, typical, processes }) => {
        if (this.#events.hasListeners('load-limit'))
          this.#events.emit('load-limit', { source, limit, typical, processes })
      },
    )
    this.#bySource.set(source, permits)
    return permits
  }
}
