import type { IncomingHttpHeaders } from 'node:http'
import { parseCacheControl, secondsOf } from '../fields/cache-control.ts'

/** The request directives of a client whose route obeys them (RFC 9111 section 5.2.1). */
export interface RequestDirectives {
  /** The request is neither served from the cache nor stored. */
  readonly noStore: boolean
  /** The greatest age that the client accepts, ms; undefined: any. */
  readonly maxAge: number | undefined
  readonly onlyIfCached: boolean
}

/** For a client whose directives the route does not obey. */
export const NO_DIRECTIVES: RequestDirectives = { noStore: false, maxAge: undefined, onlyIfCached: false }

/** `Pragma: no-cache` counts where there is no `Cache-Control` (RFC 9111 section 5.4). */
export function requestDirectivesOf(headers: IncomingHttpHeaders): RequestDirectives {
  const field = headers['cache-control'] ?? (/\bno-cache\b/i.test(headers.pragma ?? '') ? 'no-cache' : '')
  const directives = parseCacheControl([field])
  const seconds = directives.has('no-cache') ? 0 : secondsOf(directives, 'max-age')
  return {
    noStore: directives.has('no-store'),
    maxAge: seconds === undefined ? undefined : seconds * 1000,
    onlyIfCached: directives.has('only-if-cached'),
  }
}
