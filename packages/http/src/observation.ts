import { channel } from 'node:diagnostics_channel'
import type { Member } from './response/cache-status.ts'

/** What a route in `mode: 'observe'` would have done with a request: published to `cattlegrid:observe` of `node:diagnostics_channel`. */
export interface Observation {
  readonly method: string
  /** Path and query, without the parameters that do not count. */
  readonly target: string
  /**
   * `hit`: served from an entry. `stale`: served at once, and refreshed behind. `collapse`: served the answer of a handler that was running.
   * `store`: its handler would have run, and its answer been stored. `run`: its handler would have run for it alone.
   */
  readonly would: 'hit' | 'stale' | 'collapse' | 'store' | 'run'
  /** Why it would have run for its own client alone: the words of `Cache-Status`. */
  readonly why: string | undefined
  /** What its own handler answered; undefined where it was not seen. */
  readonly status: number | undefined
  /** How long that took, ms: what a hit would have saved. */
  readonly took: number
}

const observations = channel('cattlegrid:observe')

/** Builds no observation where nobody listens. */
export function publishObservation(observe: () => Observation): void {
  if (observations.hasSubscribers) observations.publish(observe())
}

/** As `Cache-Status` has it: the request went on, whatever would have been. */
export function observedMember({ would, why }: Pick<Observation, 'would' | 'why'>): Member {
  return `fwd=bypass; detail=would-${would}${why === undefined ? '' : `/${why}`}`
}
