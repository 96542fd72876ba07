import type { Load } from '@cattlegrid/core'
import type { HandlerTimes } from './handler-times.ts'
import type { Forwarded, MissReason } from '../response/cache-status.ts'
import { isVaryRecord, type RecordedResponse, type Stored } from '../response/recorded-response.ts'
import { validatorsOf } from '../response/revalidate.ts'
import type { VaryRecord } from '../response/vary.ts'
import type { Route } from '../route/route.ts'

/** Why a request's lookup of a key asks for a load. */
export interface Miss extends MissReason {
  /** The record of variants that led to the key; undefined: the key is the URL's own. */
  readonly record: VaryRecord | undefined
}

/** One load, and the facts that a handler run for it needs. */
export interface LoadTask extends Miss {
  readonly load: Load<never>
  /** Identifies the load in `CDN-Loop`, for a handler that sends a request to its own URL. */
  readonly loadId: string
  /** The times of the handler of the request that leads. */
  readonly times: HandlerTimes
  /**
   * The layers outside of the request that leads have seen another URL than that of the key: see
   * `seesKeyedUrl`.
   */
  readonly unkeyedUrl: boolean
  /** An audit decides whether the response is stored. Default: false. */
  readonly audited?: boolean | undefined
}

/**
 * True if a response of the URL was stored before, as far as its lookup shows: an entry that is not served,
 * or a record of its variants.
 */
export function isStoredBefore(forwarded: Forwarded): boolean {
  return forwarded !== 'uri-miss'
}

/**
 * True if the route's `ttl`, or a response that was stored before, shows that responses of the URL can be
 * shared. Until then, a slow handler or an aborted response is no failure of the URL, and a request whose
 * wait ends without a response runs its own handler.
 */
export function isKnownShareable({ appMode }: Pick<Route, 'appMode'>, forwarded: Forwarded): boolean {
  return !appMode || isStoredBefore(forwarded)
}

/** True if the load has a stale response that may replace a handler's failure. */
export function holdsUsableStale(load: Load): boolean {
  const stale = staleResponseOf(load)
  return stale !== undefined && (load.stale?.age ?? 0) < (stale.usableFor ?? Infinity)
}

/**
 * The stale response that the handler must revalidate; undefined where the route does not revalidate, or the
 * response has no validator.
 */
export function responseToRevalidateOf(
  load: Load,
  { revalidate }: Pick<Route, 'revalidate'>,
): RecordedResponse | undefined {
  const stale = staleResponseOf(load)
  return revalidate && stale !== undefined && Object.keys(validatorsOf(stale)).length > 0 ? stale : undefined
}

function staleResponseOf({ stale }: Load): RecordedResponse | undefined {
  const value = stale?.value as Stored | undefined
  return value === undefined || isVaryRecord(value) ? undefined : value
}
