import type { Forwarded, MissReason } from '../response/cache-status.ts'
import type { VaryRecord } from '../response/vary.ts'
import type { Route } from '../route/route.ts'

/** Why a request's lookup of a key asks for a load. */
export interface Miss extends MissReason {
  /** The record of variants that led to the key; undefined: the key is the URL's own. */
  readonly record: VaryRecord | undefined
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
