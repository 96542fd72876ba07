import type { Outcome } from '../load.ts'

/** A value, with where it came from. Times in ms. */
export interface Lookup<V> {
  readonly value: V
  readonly status: 'fresh' | 'stale' | 'loaded'
  readonly from: 'near' | 'store' | 'outage' | 'load'
  /**
   * The load that the value is from. `leader`: that of this call's loader. `follower`: that of another call,
   * in this process or another, for which this call waited. `none`: an entry that was there before, also if
   * it is served because a load failed or is slow.
   */
  readonly role: 'none' | 'leader' | 'follower'
  /** Time since the commit; 0 for a value that was just loaded. */
  readonly age: number
  /** Time until the value stops being fresh; negative for a stale one. */
  readonly freshFor: number
  /**
   * True if the call found a stale value that could not be served at once: it may get that value if the load
   * fails or is slow.
   */
  readonly foundStale: boolean
  /** The time from the call to its answer, if it had to wait for a load; else 0. */
  readonly waited: number
  /**
   * The outcome of the load of this call's own loader, also if the value is another. Undefined if that loader
   * did not run, or still runs (`refresh`).
   */
  readonly outcome: Outcome | undefined
  /**
   * The outcome of a refresh behind this result. Never rejects, except in a loader for which that refresh
   * waits: its `await` throws ReentrantLoadError.
   */
  readonly refresh: Promise<Outcome> | undefined
}
