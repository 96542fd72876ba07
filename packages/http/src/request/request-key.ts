import { BoundedMap } from '@cattlegrid/core/internal'
import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { withoutBlanks } from '../fields/header-fields.ts'
import { normalHost } from '../fields/normal-host.ts'
import { normalEncoding, sortedQuery } from './query.ts'
import { selectingValue } from '../fields/selecting-value.ts'

/** The route that a framework matched, where it ignores the case of a path or its trailing slash. */
export interface Matched {
  /** As declared, such as `/products/:id`. */
  readonly pattern: string
  /** The mount point of the router: as declared, where the framework ignores its case. */
  readonly base: string
  /** Decoded; a number where the framework has converted one. */
  readonly params: Readonly<Record<string, unknown>>
}

/** The parts of a request that make its key. */
export interface KeyParts {
  readonly scheme: string
  readonly host: string
  /** Origin-form: path and query, without unkeyed parameters. */
  readonly target: string
  /** The target as other layers have rewritten it. */
  readonly routed?: string | undefined
  readonly matched?: Matched | undefined
  readonly place: string
  /** True if the framework decodes a path before it routes: if not, `/%61` and `/a` may reach different handlers. */
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

const FORMAT = 'h2'
const MAX_BYTES = 8192
/** A pattern of parameters and plain text only: two paths that match it with the same parameters differ in case and trailing slash only. */
const PLAIN_PATTERN = /^(?:\/(?::\w+|[\w.~-]+))*\/?$/
const UNRESERVED = /^[\w.~-]*$/

/**
 * The cache key of a request (RFC 9111 section 2): a hash over its parts, each with its length, so that no part can forge a delimiter. undefined
 * where the parts exceed 8 KiB.
 */
export function requestKey(parts: KeyParts): string | undefined {
  const { scheme, place, routed, target, extra = [] } = parts
  const [path, query] = splitTarget(target)
  const rewritten = routed === undefined || routed === target ? [] : [routed]
  const spelling = canonicalPath(path, routeSpellings(parts).slice(0, 1), parts)
  const url = [scheme, normalHost(scheme, parts.host), spelling, sortedQuery(query)]
  const all = [FORMAT, 'GET', place, ...url, ...rewritten, '|', ...extra]
  const text = all.map((part) => (part === undefined ? '-;' : `${part.length}:${part}`)).join('')
  if (Buffer.byteLength(text) > MAX_BYTES) return undefined
  return `http:${hash('sha256', text, 'base64url')}`
}

/**
 * The tag of every stored response of a URL, whatever else its key holds: an invalidation of the URL finds them all by it. All paths of a key have
 * one tag. So have other paths that a framework may take for one another, as an app before which the cache stands may ignore case and slash.
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
 * The cookies of a request by name, each unparsed: `name=value`. Of two with one name the first counts, as it does for the parsers that handlers
 * use. Where parsers may differ about a name, all pairs that may have it count.
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
 * Returns a function that gives a URL, whole or from a mount point on, the canonical path of all URLs of its key: a handler that saw another spelling
 * could answer by input that the key does not hold, for example with a redirect. A query that is not empty stays unchanged, because it may be signed.
 */
export function canonicalUrls(folds: PathFolding): (url: string) => string {
  const spellings = routeSpellings(folds)
  return (url) => {
    const [path, query] = splitTarget(url)
    const canonical = canonicalPath(path, spellings, folds)
    return sortedQuery(query) === '' ? canonical : `${canonical}?${query}`
  }
}

function canonicalPath(path: string, spellings: readonly string[], { decodesPath }: PathFolding): string {
  if (spellings.includes(path)) return path
  const written = decodesPath ? normalEncoding(path) : path
  const key = spellings.length === 0 ? undefined : foldedPath(path)
  // The framework may have left the matched route again: its parameters then belong to another path.
  return spellings.find((spelling) => key !== undefined && foldedPath(spelling) === key) ?? written
}

/** The path as the route's pattern spells it: whole, and from the mount point on. Empty where the framework distinguishes case and slash. */
function routeSpellings({ matched }: PathFolding): readonly string[] {
  if (matched === undefined) return []
  const { pattern, base, params } = matched
  const parts = partsOf(pattern)
  if (parts.length === 0) return []
  let inner = ''
  for (const [index, part] of parts.entries()) inner += index % 2 === 0 ? part : encodeParameter(params[part])
  return [base !== '' && inner === '/' ? base : base + inner, inner]
}

/** By pattern. An app may declare a route for each request. */
const patternParts = new BoundedMap<string, readonly string[]>(1000)

/** The plain text and the names of the parameters of a pattern, in turn; empty if it is not plain. */
function partsOf(pattern: string): readonly string[] {
  const known = patternParts.get(pattern)
  if (known !== undefined) return known
  const parts = PLAIN_PATTERN.test(pattern) ? pattern.split(/:(\w+)/) : []
  patternParts.set(pattern, parts)
  return parts
}

/** Encodes a parameter as browsers do: characters that are legal in a path stay. A schema may have made a number of it. */
function encodeParameter(value: unknown): string {
  const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value : ''
  if (UNRESERVED.test(text)) return text
  // `encodeURIComponent` rejects lone surrogates.
  const encoded = encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, '\uFFFD'))
  return encoded.replaceAll(/%(?:3A|40|24|26|2B|2C|3B|3D|5B|5D|7C)/g, decodeURIComponent)
}

/** A path without all that frameworks may ignore; undefined for a malformed encoding. */
function foldedPath(path: string): string | undefined {
  try {
    return withoutSlash(decodeURIComponent(path)).toLowerCase()
  } catch {
    return undefined
  }
}

function withoutSlash(path: string): string {
  return path.replace(/(?<=.)\/$/, '')
}

function splitTarget(target: string): readonly [string, string] {
  const index = target.indexOf('?')
  return index < 0 ? [target, ''] : [target.slice(0, index), target.slice(index + 1)]
}
