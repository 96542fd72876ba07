import { type Directives, secondsOf } from '../fields/cache-control.ts'
import { type HeaderFields, linesOf } from '../fields/header-fields.ts'
import { parseHttpDate } from '../fields/http-date.ts'
import type { EffectiveDirectives } from '../fields/targeted-fields.ts'

/**
 * The lifetime and the stale windows that a response declares, ms; undefined: it declares none. No
 * heuristic freshness.
 */
export interface DeclaredFreshness {
  /** From the creation of the response. */
  readonly lifetime: number | undefined
  /** After the lifetime; 0: the response must not be served stale. */
  readonly staleWhileRevalidate: number | undefined
  readonly staleIfError: number | undefined
}

/**
 * RFC 9111 section 4.2.1: `s-maxage`, else `max-age`, else `Expires` − `Date`, except beside a targeted
 * field. The stale windows are those of RFC 5861.
 */
export function declaredFreshness(
  fields: HeaderFields,
  { directives, targeted }: EffectiveDirectives,
  now: number,
): DeclaredFreshness {
  const seconds = secondsOf(directives, 's-maxage') ?? secondsOf(directives, 'max-age')
  const expires = targeted ? undefined : untilExpires(fields, now)
  return {
    lifetime: seconds === undefined ? expires : seconds * 1000,
    staleWhileRevalidate: windowOf(directives, 'stale-while-revalidate'),
    staleIfError: windowOf(directives, 'stale-if-error'),
  }
}

function untilExpires(fields: HeaderFields, now: number): number | undefined {
  const [expires] = linesOf(fields, 'expires')
  if (expires === undefined) return undefined
  const date = parseHttpDate(linesOf(fields, 'date')[0] ?? '', now) ?? now
  // An invalid date, especially 0, is in the past (RFC 9111 section 5.3).
  return Math.max(0, (parseHttpDate(expires, now) ?? date) - date)
}

/**
 * `s-maxage` implies `proxy-revalidate` (RFC 9111 section 5.2.2.10), unless the same field declares
 * the window.
 */
function windowOf(directives: Directives, name: string): number | undefined {
  if (directives.has('must-revalidate') || directives.has('proxy-revalidate')) return 0
  const seconds = secondsOf(directives, name)
  if (seconds !== undefined) return seconds * 1000
  return directives.has('s-maxage') ? 0 : undefined
}
