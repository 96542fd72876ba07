import { parseSeconds } from '../fields/cache-control.ts'
import { type HeaderFields, linesOf } from '../fields/header-fields.ts'
import { parseHttpDate } from '../fields/http-date.ts'

/**
 * The age of a response when it is recorded, in seconds: by its `Age` or by its `Date`, whichever is greater
 * (RFC 9111 section 4.2.3). The time since the request `began` is added to `Age`.
 */
export function initialAge(fields: HeaderFields, now: number, began: number = now): number {
  const age = parseSeconds((linesOf(fields, 'age')[0] ?? '').split(',')[0]?.trim() ?? '')
  const corrected = age === undefined ? 0 : age + Math.max(0, now - began) / 1000
  const date = parseHttpDate(linesOf(fields, 'date')[0] ?? '', now) ?? now
  return Math.max(corrected, Math.floor(Math.max(0, now - date) / 1000))
}

/**
 * `Age`, in whole seconds, of a response that was `initial` seconds old when it was stored, `residentTime`
 * ms ago.
 */
export function currentAge(initial: number, residentTime: number): number {
  return Math.floor(initial + Math.max(0, residentTime) / 1000)
}

/**
 * True if the response satisfies a request's `max-age`, ms (RFC 9111 section 5.2.1.1): by the `Age`
 * that it would be sent with. A response that was stored within the last second shows 0, so the time since
 * its commit counts as well: `max-age=0` asks for another one.
 */
export function satisfiesMaxAge(initial: number, residentTime: number, maxAge: number): boolean {
  return residentTime <= maxAge && currentAge(initial, residentTime) * 1000 <= maxAge
}
