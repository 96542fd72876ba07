import type { Outcome } from '../load.ts'

/** A value, and how it came. Times in ms. */
export interface Lookup<V> {
  readonly value: V
  readonly status: 'fresh' | 'stale' | 'loaded'
  readonly from: 'near' | 'store' | 'outage' | 'load'
  /** `leader`: this call's loader ran. `follower`: another call's did, here or elsewhere. `none`: nobody had to load for this answer. */
  readonly role: 'none' | 'leader' | 'follower'
  /** Since the commit; 0 for a value just loaded. */
  readonly age: number
  /** Until it stops being fresh; negative for a stale one. */
  readonly freshFor: number
  /** How long this call waited for a load. */
  readonly waited: number
  /** How the load of this call's own loader ended, when it is over. */
  readonly outcome: Outcome | undefined
  /** A load that goes on behind; never rejects. */
  readonly refresh: Promise<Outcome> | undefined
}
