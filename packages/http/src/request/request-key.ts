import { BoundedMap } from '@cattlegrid/core/extend'
import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { withoutBlanks } from '../fields/header-fields.ts'
import { normalHost } from '../fields/normal-host.ts'
import { normalEncoding, sortedQuery } from './query.ts'
import { selectingValue } from '../fields/selecting-value.ts'

/** The route that a framework matched, where it ignores the case of a path or its trailing slash. */
export interface MatchedRoute {
  /** As declared, such as `/products/:id`. */
  readonly pattern: string
  /** The mount point of the router: as declared, where the framework ignores its case. */
  readonly base: string
}

/** The parts of a request that make its key. */
export interface KeyParts {
  readonly scheme: string
  readonly host: string
  /** Origin-form: path and query, without unkeyed parameters. */
  readonly target: string
  /** The target as other layers have rewritten it. */
  readonly routed?: string | undefined
  readonly matched?: MatchedRoute | undefined
  readonly place: string
  /**
   * True if the framework decodes a path before it routes: if not, `/%61` and `/a` may reach
   * different handlers.
   */
  readonly decodesPath: boolean
  /** Other values that the route puts in the key; undefined: absent, which differs from empty. */
  readonly extra?: readonly (string | undefined)[] | undefined
}

/** The parts that decide which paths are equivalent. */
type PathFolding = Pick<KeyParts, 'matched' | 'decodesPath'>

/** The request fields, the cookies and the host in a route's key. */
export interface KeyRule {
  /** Lower-case. */
  readonly headers: readonly string[]
  readonly cookies: readonly string[]
  /** The fixed host; false: none; undefined: that of the request. */
  readonly host: string | false | undefined
}

const FORMAT = 'h3'
const MAX_BYTES = 8192
/**
 * A pattern of parameters and plain text only, each a whole segment: the segments of a path that matches it
 * are those of the pattern, in turn.
 */
const PLAIN_PATTERN = /^(?:\/(?::\w+|[\w.~-]+))*\/?$/

/**
 * The cache key of a request (RFC 9111 section 2): a hash over its parts, each with its length, so that no
 * part can forge a delimiter. undefined where the parts exceed 8 KiB.
 */
export function requestKey(parts: KeyParts): string | undefined {
  const { scheme, place, routed, target, extra = [] } = parts
  const [path, query] = splitTarget(target)
  const rewritten = routed === undefined || routed === target ? [] : [routed]
  const spelling = canonicalPath(path, routeSegments(parts).slice(0, 1), parts)
  const url = [scheme, normalHost(scheme, parts.host), spelling, query]
  const all = [FORMAT, 'GET', place, ...url, ...rewritten, '|', ...extra]
  const text = all.map((part) => (part === undefined ? '-;' : `${part.length}:${part}`)).join('')
  if (Buffer.byteLength(text) > MAX_BYTES) return undefined
  return `http:${hash('sha256', text, 'base64url')}`
}

/**
 * The tag of every stored response of a URL, whatever else its key holds: an invalidation of the URL finds
 * them all by it. All paths of a key have one tag. So have other paths that a framework may take for one
 * another, as an app before which the cache stands may ignore case and slash.
 */
export function urlTag({ scheme, host, target }: Pick<KeyParts, 'scheme' | 'host' | 'target'>): string {
  const [path, query] = splitTarget(target)
  const parts = [scheme, normalHost(scheme, host), foldedPath(path) ?? normalEncoding(path), sortedQuery(query)]
  const text = parts.map((part) => `${part.length}:${part}`).join('')
  return `cattlegrid:url:${hash('sha256', text, 'base64url')}`
}

/** The host in the key of a request to `host`; empty where the key has none. */
export function keyedHost(host: string, { host: fixed }: Pick<KeyRule, 'host'>): string {
  return fixed === false ? '' : (fixed ?? host)
}

/** The values of the fields and cookies in a route's key. */
export function keyedValues(
  { headers: names, cookies }: Pick<KeyRule, 'headers' | 'cookies'>,
  headers: IncomingHttpHeaders,
): (string | undefined)[] {
  const cookieValues = cookies.length === 0 ? undefined : cookiesOf(headers.cookie)
  return [...names.map((name) => selectingValue(name, headers)), ...cookies.map((name) => cookieValues?.get(name))]
}

/**
 * The cookies of a request by name, each unparsed: `name=value`. Of two with one name the first counts, as it
 * does for the parsers that handlers use. Where parsers may differ about a name, all pairs that may have
 * it count.
 */
export function cookiesOf(field: string | undefined): ReadonlyMap<string, string> {
  const cookies = new Map<string, string[]>()
  for (const text of field?.split(';') ?? []) {
    const pair = withoutBlanks(text)
    const name = pair.slice(0, Math.max(0, pair.indexOf('='))).trim()
    const pairs = cookies.get(name)
    if (name === '' || pairs?.[0]?.startsWith(`${name}=`) === true) continue
    if (pairs === undefined) cookies.set(name, [pair])
    else pairs.push(pair)
  }
  return new Map([...cookies].map(([name, pairs]) => [name, pairs.join('; ')]))
}

/**
 * Returns a function that gives a URL, whole or from a mount point on, the canonical path of all URLs of its
 * key: a handler that saw another spelling could answer by input that the key does not hold, for example with
 * a redirect. A query that is not empty stays unchanged, as in the key.
 */
export function canonicalUrls(folds: PathFolding): (url: string) => string {
  const patterns = routeSegments(folds)
  return (url) => {
    const [path, query] = splitTarget(url)
    const canonical = canonicalPath(path, patterns, folds)
    return query === '' ? canonical : `${canonical}?${query}`
  }
}

/**
 * The path as the first pattern that it matches spells it: plain text as declared, parameters as they came.
 */
function canonicalPath(path: string, patterns: readonly Segments[], { decodesPath }: PathFolding): string {
  const written = decodesPath ? normalEncoding(path) : path
  if (patterns.length === 0) return written
  const segments = written.replace(/\/$/, '').split('/')
  // The framework may have left the matched route again: another one, which the path fits, too, has its
  // spelling then.
  const pattern = patterns.find(
    (candidate) =>
      candidate.length === segments.length + (candidate.at(-1) === END ? 1 : 0) &&
      segments.every((segment, index) => fits(segment, candidate[index])),
  )
  if (pattern === undefined) return written
  return pattern.map((part, index) => part ?? normalEncoding(segments[index] ?? '')).join('/') || '/'
}

function fits(segment: string, part: string | undefined): boolean {
  return part === undefined || segment === part || segment.toLowerCase() === part.toLowerCase()
}

/**
 * The segments of a pattern; undefined for a parameter. Before the first slash and behind the last one they
 * are empty.
 */
type Segments = readonly (string | undefined)[]
const END = ''

/**
 * The segments of the route's pattern: whole, and from the mount point on. Empty where the framework
 * distinguishes case and slash.
 */
function routeSegments({ matched }: PathFolding): readonly Segments[] {
  if (matched === undefined) return []
  const { pattern, base } = matched
  const segments = segmentsOf(pattern)
  if (segments.length === 0) return []
  if (base === '') return [segments]
  return [[...base.split('/'), ...(pattern === '/' ? [] : segments.slice(1))], segments]
}

/** By pattern. An app may declare a route for each request. */
const patternSegments = new BoundedMap<string, Segments>(1000)

/** Empty for a pattern that is not plain. */
function segmentsOf(pattern: string): Segments {
  const known = patternSegments.get(pattern)
  if (known !== undefined) return known
  const parts = PLAIN_PATTERN.test(pattern) ? pattern.split('/') : []
  const segments = parts.map((part) => (part.startsWith(':') ? undefined : part))
  patternSegments.set(pattern, segments)
  return segments
}

/** A path without all that frameworks may ignore; undefined for a malformed encoding. */
function foldedPath(path: string): string | undefined {
  try {
    return decodeURIComponent(path)
      .replace(/(?<=.)\/$/, '')
      .toLowerCase()
  } catch {
    return undefined
  }
}

function splitTarget(target: string): readonly [string, string] {
  const index = target.indexOf('?')
  return index < 0 ? [target, ''] : [target.slice(0, index), target.slice(index + 1)]
}
