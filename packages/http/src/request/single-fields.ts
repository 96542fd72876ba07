import type { IncomingMessage } from 'node:http'
import { readUnreported } from './watched-fields.ts'

/**
 * Why a handler may take another value of a field for the client's than the key holds. `repeated-field`,
 * `repeated-cookie`: the request has two. `connection`: it tells a handler that forwards it to drop the field
 * (RFC 9110 section 7.6.1).
 */
export type Ambiguity = (typeof AMBIGUITIES)[number]
const AMBIGUITIES = ['repeated-field', 'repeated-cookie', 'connection'] as const

/** True for a reason that lies in one request, and says nothing about others of its URL. */
export function isAmbiguity(why: string): boolean {
  return AMBIGUITIES.some((ambiguity) => ambiguity === why)
}

type Fields = Pick<IncomingMessage, 'headers' | 'rawHeaders'>

/**
 * A leader's handler gets one line of these in any case: HTTP/2 splits the first, and the second is reduced.
 */
const JOINED: ReadonlySet<string> = new Set(['cookie', 'accept-encoding'])

/**
 * Express' `req.get` takes the one for the other: of a pair, a handler may read the field that the key does
 * not hold.
 */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['referer', 'referrer'],
  ['referrer', 'referer'],
])

/**
 * Returns why not every handler sees the one value of each of these fields and cookies that the key holds;
 * undefined where each does.
 *
 * @example
 * import { ambiguityIn } from '@cattlegrid/http/binding'
 *
 * const why = ambiguityIn({ headers: req.headers, rawHeaders: req.rawHeaders }, ['accept-language'])
 */
export function ambiguityIn(
  req: Fields,
  names: readonly string[],
  cookies: readonly string[] = [],
): Ambiguity | undefined {
  if (names.length === 0 && cookies.length === 0) return undefined
  const dropped = new Set(droppedNames(req))
  if (names.some((name) => dropped.has(name)) || (cookies.length > 0 && dropped.has('cookie'))) return 'connection'
  const lines = linesOf(req, names)
  if (new Set(lines).size < lines.length || hasUnkeyedAlias(req, names)) return 'repeated-field'
  return cookies.length > 0 && hasOtherPair(req, cookies) ? 'repeated-cookie' : undefined
}

/**
 * True if the request has a field that a handler may read under one of these names, and that is none of them.
 */
function hasUnkeyedAlias(req: Fields, names: readonly string[]): boolean {
  const aliases = names.flatMap((name) => ALIASES.get(name) ?? []).filter((alias) => !names.includes(alias))
  return (
    aliases.length > 0 &&
    (linesOf(req, aliases).length > 0 || aliases.some((alias) => readUnreported(req.headers, alias) !== undefined))
  )
}

/**
 * True if a parser may take a pair for one of these cookies that the key does not: a second one, or one whose
 * name is percent-encoded.
 */
function hasOtherPair(req: Fields, cookies: readonly string[]): boolean {
  const decoded = new Set(cookies.map(decodedName))
  const pairs = cookieNames(req).filter((name) => decoded.has(decodedName(name)))
  return new Set(pairs.map(decodedName)).size < pairs.length || pairs.some((name) => !cookies.includes(name))
}

function decodedName(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** The names of these fields, once for each of their lines. */
function linesOf({ rawHeaders }: Fields, names: readonly string[]): readonly string[] {
  return rawHeaders
    .filter((_, index) => index % 2 === 0)
    .map((name) => name.toLowerCase())
    .filter((name) => names.includes(name) && !JOINED.has(name))
}

/** The names in `Connection`, of the fields as they came and as layers outside have left them. */
function droppedNames({ headers, rawHeaders }: Fields): readonly string[] {
  const raw = rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === 'connection')
  return [...raw, headers.connection ?? '']
    .join()
    .split(',')
    .map((name) => name.trim().toLowerCase())
}

/** The names before the equals signs, as parsers trim them. */
function cookieNames({ headers }: Fields): readonly string[] {
  const field = readUnreported(headers, 'cookie') ?? ''
  return field.split(';').map((pair) => (pair.split('=', 1)[0] ?? '').trim())
}
