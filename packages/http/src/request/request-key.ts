import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { withoutBlanks } from '../fields/header-fields.ts'
import { normalHost } from './normalise.ts'
import { normalEncoding, sortedQuery } from './query.ts'
import { selectingValue } from '../fields/selecting-value.ts'

/** How a framework found the route, where it folds paths that differ in case or a last slash into one. */
export interface Matched {
  /** As declared, such as `/products/:id`. */
  readonly pattern: string
  /** Where a router is mounted. */
  readonly base: string
  /** Decoded. */
  readonly params: Readonly<Record<string, unknown>>
}

/** What of a request decides which stored answer it may have. */
export interface KeyParts {
  readonly scheme: string
  readonly host: string
  /** Origin-form: path and query, without the parameters that do not count. */
  readonly target: string
  /** The same as the handler sees it, where something rewrote it. */
  readonly routed?: string | undefined
  readonly matched?: Matched | undefined
  readonly layer: string
  /** Whether the framework decodes a path before it routes: else `/%61` and `/a` may reach different handlers. */
  readonly decodesPath: boolean
  /** What else the route keys on; undefined: absent, which is not empty. */
  readonly extra?: readonly (string | undefined)[] | undefined
}

/** What makes several spellings of a path one. */
type PathFolding = Pick<KeyParts, 'matched' | 'decodesPath'>

/** What of a request a route keys on beside its URL. */
export interface KeyRule {
  /** Lower-case. */
  readonly headers: readonly string[]
  readonly cookies: readonly string[]
}

const FORMAT = 'h2'
const MAX_BYTES = 8192
/** A pattern of names and plain text alone: two paths that match it with the same parameters differ in what was folded, and in nothing else. */
const PLAIN_PATTERN = /^(?:\/(?::\w+|[\w.~-]+))*\/?$/

/**
 * The cache key of a request: a hash over its parts, each with its length, so that no delimiter can be forged. undefined for one that is
 * longer than 8 KiB.
 */
export function requestKey(parts: KeyParts): string | undefined {
  const { scheme, layer, routed, target, extra = [] } = parts
  const [path, query] = splitTarget(target)
  const rewritten = routed === undefined || routed === target ? [] : [routed]
  const spelling = canonicalPath(path, routeSpellings(parts).slice(0, 1), parts)
  const url = [scheme, normalHost(scheme, parts.host), spelling, sortedQuery(query)]
  const all = [FORMAT, 'GET', layer, ...url, ...rewritten, '|', ...extra]
  const text = all.map((part) => (part === undefined ? '-;' : `${part.length}:${part}`)).join('')
  if (Buffer.byteLength(text) > MAX_BYTES) return undefined
  return `http:${createHash('sha256').update(text).digest('base64url')}`
}

/** What every stored answer of a URL is tagged with, whatever else its key holds: so that all of them can be found. */
export function urlTag({ scheme, host, target }: Pick<KeyParts, 'scheme' | 'host' | 'target'>): string {
  const [path, query] = splitTarget(target)
  const parts = [scheme, normalHost(scheme, host), normalEncoding(path), sortedQuery(query)]
  const text = parts.map((part) => `${part.length}:${part}`).join('')
  return `cattlegrid:url:${createHash('sha256').update(text).digest('base64url')}`
}

/** The values that a route keys on. */
export function keyedValues(
  { headers: names, cookies }: KeyRule,
  headers: IncomingHttpHeaders,
): (string | undefined)[] {
  const jar = cookies.length === 0 ? undefined : cookiesOf(headers.cookie)
  return [...names.map((name) => selectingValue(name, headers)), ...cookies.map((name) => jar?.get(name))]
}

/**
 * The cookies of a request, by name, each as it is written: `name=value`. Of two with one name the first counts, as it does for the parsers
 * that handlers use. Where it is spelled so that parsers may differ about its name, all that may be it count.
 */
export function cookiesOf(field: string | undefined): ReadonlyMap<string, string> {
  const jar = new Map<string, string[]>()
  for (const text of field?.split(';') ?? []) {
    const pair = withoutBlanks(text)
    const name = pair.slice(0, Math.max(0, pair.indexOf('='))).trim()
    const pairs = jar.get(name)
    if (name === '' || pairs?.[0]?.startsWith(`${name}=`) === true) continue
    if (pairs === undefined) jar.set(name, [pair])
    else pairs.push(pair)
  }
  return new Map([...jar].map(([name, pairs]) => [name, pairs.join('; ')]))
}

/**
 * A URL, whole or from a mount point on, in the one spelling of all those whose path has the same key: a handler that is shown any other could
 * answer it by something that the key does not hold, such as a redirect to itself. A query that is not empty stays as it came: some are signed.
 */
export function canonicalUrl(url: string, folds: PathFolding): string {
  const [path, query] = splitTarget(url)
  const shown = canonicalPath(path, routeSpellings(folds), folds)
  return sortedQuery(query) === '' ? shown : `${shown}?${query}`
}

function canonicalPath(path: string, spellings: readonly string[], { decodesPath }: PathFolding): string {
  const written = decodesPath ? normalEncoding(path) : path
  const key = spellings.length === 0 ? undefined : foldedPath(path)
  // Of a route that was left again, the parameters are somebody else's.
  return spellings.find((spelling) => key !== undefined && foldedPath(spelling) === key) ?? written
}

/** Where the framework folds paths, the route's own spelling of this one: whole, and from its mount point on. */
function routeSpellings({ matched }: PathFolding): readonly string[] {
  if (matched === undefined || !PLAIN_PATTERN.test(matched.pattern)) return []
  const { pattern, base, params } = matched
  const inner = pattern.replaceAll(/:(\w+)/g, (_, name: string) => encodeParameter(wellFormed(params[name])))
  return [base !== '' && inner === '/' ? base : base + inner, inner]
}

/** As browsers write it: what need not be encoded in a path is not. */
function encodeParameter(value: string): string {
  return encodeURIComponent(value).replaceAll(/%(?:3A|40|24|26|2B|2C|3B|3D|5B|5D|7C)/g, decodeURIComponent)
}

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

/** A lone surrogate has no encoding, and would throw. */
function wellFormed(value: unknown): string {
  return typeof value === 'string' ? value.replaceAll(/\p{Surrogate}/gu, '\uFFFD') : ''
}

function splitTarget(target: string): readonly [string, string] {
  const index = target.indexOf('?')
  return index < 0 ? [target, ''] : [target.slice(0, index), target.slice(index + 1)]
}
