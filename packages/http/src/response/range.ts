import type { IncomingHttpHeaders } from 'node:http'
import { type HeaderFields, linesOf } from '../fields/header-fields.ts'

/** The selected bytes of a stored body. */
export interface SelectedRange {
  readonly from: number
  /** Inclusive. */
  readonly to: number
}

/** The `Range` and `If-Range` of a request. */
export interface RangeRequest {
  readonly range: string | undefined
  readonly ifRange: string | undefined
}

const SINGLE = /^bytes=(\d{0,15})-(\d{0,15})$/i

export function rangeRequestOf(headers: IncomingHttpHeaders): RangeRequest {
  return { range: headers.range, ifRange: headers['if-range'] === undefined ? undefined : String(headers['if-range']) }
}

/**
 * The range of a stored 200 that the request selects (RFC 9110 section 14.2). undefined where the whole
 * response must be sent: for no range, several ranges, a malformed range, or an `If-Range` that names
 * another version.
 */
export function selectRange(
  { range, ifRange }: RangeRequest,
  fields: HeaderFields,
  length: number,
): SelectedRange | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = SINGLE.exec(range?.trim() ?? '') ?? []
  if (first === '' && last === '') return undefined
  if (ifRange !== undefined && !isSameVersion(ifRange.trim(), fields)) return undefined
  if (first === '') {
    const suffix = Number(last)
    return suffix === 0 || length === 0 ? 'unsatisfiable' : { from: Math.max(0, length - suffix), to: length - 1 }
  }
  const from = Number(first)
  const to = last === '' ? length - 1 : Math.min(Number(last), length - 1)
  if (last !== '' && Number(last) < from) return undefined
  return from >= length ? 'unsatisfiable' : { from, to }
}

/**
 * RFC 9110 section 13.1.5: strong comparison. A date must equal `Last-Modified`, which must be at least a
 * second older than `Date`.
 */
function isSameVersion(ifRange: string, fields: HeaderFields): boolean {
  const [etag] = linesOf(fields, 'etag')
  if (ifRange.startsWith('"')) return ifRange === etag
  if (ifRange.startsWith('W/')) return false
  const [modified] = linesOf(fields, 'last-modified')
  const [date] = linesOf(fields, 'date')
  return modified !== undefined && modified === ifRange && date !== undefined && Date.parse(modified) < Date.parse(date)
}
