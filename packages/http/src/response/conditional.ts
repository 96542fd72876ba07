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
 * True if the client gets a 304 (RFC 9110 section 13.2.2): by `If-None-Match` with weak comparison, else by
 * `If-Modified-Since` against `Last-Modified`, or against `Date` where that is absent (RFC 9111 section
 * 4.3.2). Only for a 200.
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

/** Fields that describe a content, or a representation by its digest: a 304 and a 416 have neither. */
const CONTENT_FIELDS = [
  ...['type', 'length', 'encoding', 'language', 'range', 'md5', 'digest'].map((suffix) => `content-${suffix}`),
  'repr-digest',
  'digest',
]

/**
 * The fields that a 304 must not have. All others stay: they may concern this request only, or tell a browser
 * who may read the response.
 */
export function fieldsOfContent(fields: HeaderFields): readonly string[] {
  const others = 'etag' in fields ? ['transfer-encoding', 'trailer', 'last-modified'] : ['transfer-encoding', 'trailer']
  return [...CONTENT_FIELDS, ...others]
}

/**
 * The fields of the 200 that a 416 must not have: those of its content, its validators, and how long it may
 * be kept.
 */
export function fieldsOfWhole(fields: HeaderFields): readonly string[] {
  const lifetimes = Object.keys(fields).filter((name) => LIFETIME.test(name))
  return [...fieldsOfContent(fields), 'etag', 'last-modified', ...lifetimes]
}

/** `Cache-Control`, its targeted variants (RFC 9213) and its predecessors. */
const LIFETIME = /(?:^|-)cache-control$|^surrogate-control$|^expires$|^pragma$/

/**
 * A part has these of the whole content (RFC 9530 section 2, RFC 1864); a digest of the representation
 * stays right.
 */
export const DIGESTS_OF_CONTENT: readonly string[] = ['content-digest', 'content-md5']

export function withoutFields<Value>(
  fields: Readonly<Record<string, Value>>,
  names: readonly string[],
): Record<string, Value> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))
}
