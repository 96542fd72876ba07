import { type Directives, secondsOf } from '../fields/cache-control.ts'
import { type HeaderFields, linesOf } from '../fields/header-fields.ts'
import { parseHttpDate } from '../fields/http-date.ts'
import type { Policy } from '../fields/targeted-fields.ts'

/** How long an answer may be used, in ms, as far as it says so itself. */
export interface DeclaredFreshness {
  /** From its making on; undefined where it declares none. Never guessed. */
  readonly lifetime: number | undefined
  /** After that: undefined where it says nothing, 0 where it forbids serving stale. */
  readonly staleWhileRevalidate: number | undefined
  readonly staleIfError: number | undefined
}

/**
 * RFC 9111 section 4.2.1: `s-maxage`, else `max-age`, else `Expires` − `Date`, which does not count beside a targeted field. The stale
 * windows are RFC 5861's.
 */
export function declaredFreshness(
  fields: HeaderFields,
  { directives, targeted }: Policy,
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
  // Anything that is no date, 0 above all, lies in the past (RFC 9111 section 5.3).
  return Math.max(0, (parseHttpDate(expires, now) ?? date) - date)
}

/** `s-maxage` implies `proxy-revalidate` (RFC 9111 section 5.2.2.10), unless the same field allows the window in so many words. */
function windowOf(directives: Directives, name: string): number | undefined {
  if (directives.has('must-revalidate') || directives.has('proxy-revalidate')) return 0
  const seconds = secondsOf(directives, name)
  if (seconds !== undefined) return seconds * 1000
  return directives.has('s-maxage') ? 0 : undefined
}
