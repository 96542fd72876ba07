import { channel } from 'node:diagnostics_channel'

/**
 * What a route in `mode: 'observe'` would have done with a request, as published to `cattlegrid:observe` of
 * `node:diagnostics_channel`.
 */
export interface Observation {
  readonly method: string
  /** Path and query, without unkeyed parameters. */
  readonly target: string
  /**
   * `hit`: served from a fresh entry. `stale`: served from a stale entry, with a background refresh.
   * `collapse`: served the response of a handler that was running. `store`: its handler would have run, and
   * its response been stored. `run`: its handler would have run for this request only.
   */
  readonly would: 'hit' | 'stale' | 'collapse' | 'store' | 'run'
  /** For `run`: why no other request would have got the response, as a detail of `Cache-Status`. */
  readonly why: string | undefined
  /** The status of its own handler's response; undefined where the response was not recorded. */
  readonly status: number | undefined
  /** The handler's time, ms: what a hit would have saved. */
  readonly took: number
}

const observations = channel('cattlegrid:observe')

/** Calls `observe` only where the channel has a subscriber. */
export function publishObservation(observe: () => Observation): void {
  if (observations.hasSubscribers) observations.publish(observe())
}
