import { parseSeconds } from '../fields/cache-control.ts'
import { type HeaderFields, linesOf } from '../fields/header-fields.ts'
import { parseHttpDate } from '../fields/http-date.ts'

/**
 * How old an answer is when it is recorded, in seconds: by its own `Age` or by its `Date`, whichever is more (RFC 9111 section 4.2.3). What
 * `Age` says was true when the request `began`.
 */
export function initialAge(fields: HeaderFields, now: number, began: number = now): number {
  const said = parseSeconds((linesOf(fields, 'age')[0] ?? '').split(',')[0]?.trim() ?? '')
  const corrected = said === undefined ? 0 : said + Math.max(0, now - began) / 1000
  const date = parseHttpDate(linesOf(fields, 'date')[0] ?? '', now) ?? now
  return Math.max(corrected, Math.floor(Math.max(0, now - date) / 1000))
}

/** `Age`, in whole seconds, of an answer that was `initial` seconds old when it was stored `resident` ms ago. */
export function currentAge(initial: number, resident: number): number {
  return Math.floor(initial + Math.max(0, resident) / 1000)
}
