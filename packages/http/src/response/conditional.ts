import type { IncomingHttpHeaders } from 'node:http'
import fresh from 'fresh'
import { type HeaderFields, linesOf } from '../fields/header-fields.ts'

/** What a client wants to be spared, taken down before a leader's handler could see it. */
export interface Conditions {
  readonly ifNoneMatch: string | undefined
  readonly ifModifiedSince: string | undefined
}

/** undefined: it wants the whole in any case. */
export function conditionsOf(headers: IncomingHttpHeaders): Conditions | undefined {
  const { 'if-none-match': ifNoneMatch, 'if-modified-since': ifModifiedSince } = headers
  return ifNoneMatch === undefined && ifModifiedSince === undefined ? undefined : { ifNoneMatch, ifModifiedSince }
}

/**
 * Whether 304 is the answer (RFC 9110 section 13.2.2): `If-None-Match` by weak comparison, else `If-Modified-Since` against `Last-Modified`,
 * else against `Date` (RFC 9111 section 4.3.2). Only a stored 200 is judged.
 */
export function notModified(conditions: Conditions | undefined, status: number, fields: HeaderFields): boolean {
  if (conditions === undefined) return false
  if (status !== 200) return false
  const [etag] = linesOf(fields, 'etag')
  if (conditions.ifNoneMatch !== undefined) return matches(conditions.ifNoneMatch, etag)
  const [modified] = [...linesOf(fields, 'last-modified'), ...linesOf(fields, 'date')]
  return fresh({ 'if-modified-since': conditions.ifModifiedSince }, { 'last-modified': modified })
}

/** Entity-tags may hold commas. A tag without quotes is none, but matches itself. */
const ENTITY_TAG = /"[^"]*"/g

/** By weak comparison (RFC 9110 section 8.8.3.2). */
function matches(field: string, etag: string | undefined): boolean {
  if (field.trim() === '*' || field === etag) return true
  return (field.match(ENTITY_TAG) ?? []).some((tag) => tag === etag?.replace(/^W\//, ''))
}

/** What a 304 repeats of the 200 that it stands for (RFC 9110 section 15.4.5). */
const REPEATED = ['cache-control', 'content-location', 'date', 'etag', 'expires', 'vary', 'age', 'cache-status']

/** What says something of a content, which a 304 has not. */
const OF_CONTENT = ['type', 'length', 'encoding', 'language', 'range'].map((word) => `content-${word}`)

/** The fields of a 200 that its own 304 must not have. Other than of a stored one, whatever concerns this one request stays. */
export function fieldsOfContent(fields: HeaderFields): readonly string[] {
  const others = 'etag' in fields ? ['transfer-encoding', 'trailer', 'last-modified'] : ['transfer-encoding', 'trailer']
  return [...OF_CONTENT, ...others]
}

export function fieldsOfNotModified(
  fields: Readonly<Record<string, string | string[]>>,
): Record<string, string | string[]> {
  const names = 'etag' in fields ? REPEATED : [...REPEATED, 'last-modified']
  return Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)))
}
