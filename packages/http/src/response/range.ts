import type { IncomingHttpHeaders } from 'node:http'
import { type HeaderFields, linesOf } from '../fields/header-fields.ts'

/** What of a stored body a client asked for. */
export type Cut =
  | { readonly kind: 'part'; readonly from: number; /** Inclusive. */ readonly to: number }
  /** Nothing of the body lies in the range. */
  | { readonly kind: 'outside' }

/** `Range` and `If-Range`, taken down before a leader's handler could see them. */
export interface RangeRequest {
  readonly range: string | undefined
  readonly ifRange: string | undefined
}

const SINGLE = /^bytes=(\d{0,15})-(\d{0,15})$/i

export function rangeRequestOf(headers: IncomingHttpHeaders): RangeRequest {
  return { range: headers.range, ifRange: headers['if-range'] === undefined ? undefined : String(headers['if-range']) }
}

/**
 * The part of a stored 200 that is asked for (RFC 9110 section 14.2); undefined where the whole is the answer: no range, several, one that
 * cannot be read, or an `If-Range` that names another version.
 */
export function cutOf({ range, ifRange }: RangeRequest, fields: HeaderFields, length: number): Cut | undefined {
  const [, first = '', last = ''] = SINGLE.exec(range?.trim() ?? '') ?? []
  if (first === '' && last === '') return undefined
  if (ifRange !== undefined && !isSameVersion(ifRange.trim(), fields)) return undefined
  if (first === '') {
    const suffix = Number(last)
    return suffix === 0 || length === 0
      ? { kind: 'outside' }
      : { kind: 'part', from: Math.max(0, length - suffix), to: length - 1 }
  }
  const from = Number(first)
  const to = last === '' ? length - 1 : Math.min(Number(last), length - 1)
  if (last !== '' && Number(last) < from) return undefined
  return from >= length ? { kind: 'outside' } : { kind: 'part', from, to }
}

/** RFC 9110 section 13.1.5: by strong comparison; a date must be the very `Last-Modified`, older than its answer by a second or more. */
function isSameVersion(ifRange: string, fields: HeaderFields): boolean {
  const [etag] = linesOf(fields, 'etag')
  if (ifRange.startsWith('"')) return ifRange === etag
  if (ifRange.startsWith('W/')) return false
  const [modified] = linesOf(fields, 'last-modified')
  const [date] = linesOf(fields, 'date')
  return modified !== undefined && modified === ifRange && date !== undefined && Date.parse(modified) < Date.parse(date)
}
