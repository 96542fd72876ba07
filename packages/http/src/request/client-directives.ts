import type { IncomingHttpHeaders } from 'node:http'
import { parseCacheControl, secondsOf } from '../fields/cache-control.ts'

/** What a client that is listened to wants (RFC 9111 section 5.2.1). */
export interface Demand {
  /** Neither served nor stored. */
  readonly noStore: boolean
  /** An answer that is older, in ms, will not do; undefined: whatever its age. */
  readonly maxAge: number | undefined
  readonly onlyIfCached: boolean
}

/** Of a request that is not listened to. */
export const NO_DEMAND: Demand = { noStore: false, maxAge: undefined, onlyIfCached: false }

/** `Pragma: no-cache` counts where there is no `Cache-Control` (RFC 9111 section 5.4). */
export function demandOf(headers: IncomingHttpHeaders): Demand {
  const field = headers['cache-control'] ?? (/\bno-cache\b/i.test(headers.pragma ?? '') ? 'no-cache' : '')
  const directives = parseCacheControl([field])
  const seconds = directives.has('no-cache') ? 0 : secondsOf(directives, 'max-age')
  return {
    noStore: directives.has('no-store'),
    maxAge: seconds === undefined ? undefined : seconds * 1000,
    onlyIfCached: directives.has('only-if-cached'),
  }
}
