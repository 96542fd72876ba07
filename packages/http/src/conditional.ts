import type { IncomingHttpHeaders } from 'node:http'
import fresh from 'fresh'
import { type HeaderFields, linesOf } from './header-fields.ts'

/** What a client wants to be spared, taken down before a leader's handler could see it. */
export interface Conditions {
  readonly ifNoneMatch: string | undefined
  readonly ifModifiedSince: string | undefined
}

export function conditionsOf(headers: IncomingHttpHeaders): Conditions {
  return { ifNoneMatch: headers['if-none-match'], ifModifiedSince: headers['if-modified-since'] }
}

/**
 * Whether 304 is the answer (RFC 9110 section 13.2.2): `If-None-Match` by weak comparison, else `If-Modified-Since` against `Last-Modified`,
 * else against `Date` (RFC 9111 section 4.3.2). Only a stored 200 is judged.
 */
export function notModified(conditions: Conditions, status: number, fields: HeaderFields): boolean {
  if (status !== 200) return false
  const asked = { 'if-none-match': conditions.ifNoneMatch, 'if-modified-since': conditions.ifModifiedSince }
  const [etag] = linesOf(fields, 'etag')
  const [modified] = [...linesOf(fields, 'last-modified'), ...linesOf(fields, 'date')]
  return fresh(asked, { etag, 'last-modified': modified })
}

/** What a 304 repeats of the 200 that it stands for (RFC 9110 section 15.4.5). */
const REPEATED = ['cache-control', 'content-location', 'date', 'etag', 'expires', 'vary', 'age', 'cache-status']

export function fieldsOfNotModified(
  fields: Readonly<Record<string, string | string[]>>,
): Record<string, string | string[]> {
  const names = 'etag' in fields ? REPEATED : [...REPEATED, 'last-modified']
  return Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)))
}
