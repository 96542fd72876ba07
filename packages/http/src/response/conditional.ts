import type { IncomingHttpHeaders } from 'node:http'
import fresh from 'fresh'
import { type HeaderFields, linesOf } from '../fields/header-fields.ts'

/** The `If-None-Match` and `If-Modified-Since` of a request. */
export interface Conditions {
  readonly ifNoneMatch: string | undefined
  readonly ifModifiedSince: string | undefined
}

/** undefined: the request is unconditional. */
export function conditionsOf(headers: IncomingHttpHeaders): Conditions | undefined {
  const { 'if-none-match': ifNoneMatch, 'if-modified-since': ifModifiedSince } = headers
  return ifNoneMatch === undefined && ifModifiedSince === undefined ? undefined : { ifNoneMatch, ifModifiedSince }
}

/**
 * True if the client gets a 304 (RFC 9110 section 13.2.2): by `If-None-Match` with weak comparison, else by `If-Modified-Since` against
 * `Last-Modified`, or against `Date` where that is absent (RFC 9111 section 4.3.2). Only for a 200.
 */
export function notModified(conditions: Conditions | undefined, status: number, fields: HeaderFields): boolean {
  if (conditions === undefined || status !== 200) return false
  const [etag] = linesOf(fields, 'etag')
  if (conditions.ifNoneMatch !== undefined) return matches(conditions.ifNoneMatch, etag)
  const [modified] = [...linesOf(fields, 'last-modified'), ...linesOf(fields, 'date')]
  return fresh({ 'if-modified-since': conditions.ifModifiedSince }, { 'last-modified': modified })
}

/** An entity-tag may contain commas. */
const ENTITY_TAG = /"[^"]*"/g

/** Weak comparison (RFC 9110 section 8.8.3.2). A tag without quotes is not valid, but matches itself. */
function matches(field: string, etag: string | undefined): boolean {
  if (field.trim() === '*' || field === etag) return true
  return (field.match(ENTITY_TAG) ?? []).some((tag) => tag === etag?.replace(/^W\//, ''))
}

/** The fields of the 200 that its 304 repeats (RFC 9110 section 15.4.5). Only the handler's own client gets a 304 with `set-cookie`. */
const REPEATED = [
  'cache-control',
  'content-location',
  'date',
  'etag',
  'expires',
  'vary',
  'age',
  'cache-status',
  'set-cookie',
]

/** Fields that describe a content, which a 304 does not have. */
const CONTENT_FIELDS = ['type', 'length', 'encoding', 'language', 'range'].map((suffix) => `content-${suffix}`)

/** The fields that a 304 made from a handler's own 200 must not have. All other fields stay: they may concern this request only. */
export function fieldsOfContent(fields: HeaderFields): readonly string[] {
  const others = 'etag' in fields ? ['transfer-encoding', 'trailer', 'last-modified'] : ['transfer-encoding', 'trailer']
  return [...CONTENT_FIELDS, ...others]
}

/** The fields of a 304 made from a stored 200. */
export function fieldsOfNotModified(
  fields: Readonly<Record<string, string | string[]>>,
): Record<string, string | string[]> {
  const names = 'etag' in fields ? REPEATED : [...REPEATED, 'last-modified']
  return Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)))
}
