import type { IncomingMessage } from 'node:http'
import { parse } from 'node:querystring'
import { isDeepStrictEqual, types } from 'node:util'

/** Replaces the URL that a request's handler sees. */
export interface UrlRewrite {
  /** Maps each URL that the framework shows, whole or from a mount point on. */
  readonly url: (url: string) => string
}

/**
 * Parses the query of a URL as the app does; null for a URL without one. One parser for all requests of
 * a route.
 */
export type QueryParser = (query: string | null) => unknown

/**
 * Rewrites the URL wherever layers over `node:http` keep it on Node's request: `url`, `originalUrl`, `path`,
 * `search`, the parsed URLs of the package parseurl, and a parsed `query`, which becomes what `parseQuery`
 * makes of the rewritten URL. Returns a function that undoes it, except where another layer has replaced a
 * value meanwhile; undefined where a property cannot be replaced or the query is not the parser's, and then
 * nothing is changed.
 *
 * @param parseQuery default: `parse` of `node:querystring`.
 *
 * @example
 * import { rewriteRequestUrl } from '@cattlegrid/http'
 *
 * const undo = rewriteRequestUrl(req, { url: (url) => url.replace('/v1', '') })
 * undo?.()
 */
export function rewriteRequestUrl(
  req: IncomingMessage,
  { url }: UrlRewrite,
  parseQuery: QueryParser = (query) => parse(query ?? ''),
): (() => void) | undefined {
  const text = (value: unknown): unknown => (typeof value === 'string' ? url(value) : value)
  const parsed = (value: unknown): unknown => (isObject(value) ? reparsed(value, url) : value)
  const written = parsedUrlOf(req)
  const [before, after] = [queryIn(written), queryIn(url(written))]
  const query = (value: unknown): unknown =>
    isObject(value) && before !== after
      ? derivedQuery(
          value,
          () => parseQuery(before),
          () => parseQuery(after),
        )
      : value
  // The query last: a getter that parses the URL at each read shows that of the rewritten one, and stays.
  const rewrites = {
    url: text,
    originalUrl: text,
    path: text,
    search: text,
    _parsedUrl: parsed,
    _parsedOriginalUrl: parsed,
    query,
  }
  const undos: (() => void)[] = []
  const undo = (): void => {
    for (const one of undos.splice(0).toReversed()) one()
  }
  for (const [name, rewrite] of Object.entries(rewrites)) {
    const undoOne = replaceValue(req, name, rewrite)
    if (undoOne === undefined) {
      undo()
      return undefined
    }
    undos.push(undoOne)
  }
  return undo
}

/**
 * The URL of which `req.query` was made: a getter reads the present one, a layer that stores the query read
 * that of the client.
 */
function parsedUrlOf(req: IncomingMessage & { readonly originalUrl?: unknown }): string {
  const { url = '', originalUrl } = req
  return Object.hasOwn(req, 'query') && typeof originalUrl === 'string' ? originalUrl : url
}

/** null: it has none. */
function queryIn(url: string): string | null {
  const index = url.indexOf('?')
  return index < 0 ? null : url.slice(index + 1)
}

/**
 * The parsed query that a handler sees for a rewritten URL: the app's own reading of that URL. Not a part of
 * an earlier reading, because parsers fold, split and rename names, and stop at limits. Undefined if `shown`
 * is not the reading of the URL as written: a layer has changed it.
 *
 * @example
 * import { derivedQuery } from '@cattlegrid/http'
 * import { parse } from 'node:querystring'
 *
 * const query = derivedQuery(parse('id=7&utm=mail'), () => parse('id=7&utm=mail'), () => parse('id=7'))
 */
export function derivedQuery(
  shown: object,
  readWritten: () => unknown,
  readRewritten: () => unknown,
): object | undefined {
  if (!isPlain(shown)) return undefined
  const rewritten = resultOf(readRewritten)
  if (rewritten === undefined || isSameReading(rewritten, shown)) return rewritten && shown
  const written = resultOf(readWritten)
  // A layer may have copied the query, which changes its prototype.
  if (written === undefined || !isDeepStrictEqual({ ...written }, { ...shown })) return undefined
  return Object.create(Object.getPrototypeOf(shown) as object, Object.getOwnPropertyDescriptors(rewritten)) as object
}

function resultOf(read: () => unknown): object | undefined {
  try {
    const result = read()
    return isObject(result) && isPlain(result) ? result : undefined
  } catch {
    return undefined
  }
}

/** True if two results of a parser have the same entries in the same order: a handler may list them. */
function isSameReading(one: unknown, other: unknown): boolean {
  if (!isObject(one) || !isObject(other)) return Object.is(one, other)
  const [keys, others] = [Object.keys(one), Object.keys(other)]
  if (
    keys.length !== others.length ||
    Array.isArray(one) !== Array.isArray(other) ||
    !(isPlainOrList(one) && isPlainOrList(other))
  )
    return false
  return keys.every(
    (key, index) => key === others[index] && isSameReading(Reflect.get(one, key), Reflect.get(other, key)),
  )
}

function isPlainOrList(value: object): boolean {
  return Array.isArray(value) || isPlain(value)
}

/**
 * Returns a function that undoes it; undefined where `rewrite` returns undefined for a value, or the property
 * cannot be replaced.
 */
function replaceValue(
  req: IncomingMessage,
  name: string,
  rewrite: (value: unknown) => unknown,
): (() => void) | undefined {
  const own = Object.getOwnPropertyDescriptor(req, name)
  const before: unknown = Reflect.get(req, name)
  const after = rewrite(before)
  if (after === before) return () => undefined
  if (after === undefined) return undefined
  // That of `url` over HTTP/2 is an accessor, which takes the value.
  const isSet = own?.get === undefined && Reflect.set(req, name, after) && Reflect.get(req, name) === after
  if (isSet)
    return () => {
      if (Reflect.get(req, name) === after) Reflect.set(req, name, before)
    }
  const value = { configurable: true, enumerable: own?.enumerable ?? true, writable: true, value: after }
  if (!Reflect.defineProperty(req, name, value)) return undefined
  return () => {
    if (Reflect.get(req, name) !== after) return
    if (own === undefined) Reflect.deleteProperty(req, name)
    else Object.defineProperty(req, name, own)
  }
}

/** What parseurl makes of the rewritten URL: it recognises its own result by the prototype and by `_raw`. */
function reparsed(parsed: object, url: (url: string) => string): object {
  const { _raw, href } = parsed as { readonly _raw?: unknown; readonly href?: unknown }
  const rewritten = url([_raw, href].find((text) => typeof text === 'string') ?? '')
  const index = rewritten.indexOf('?')
  const [pathname, search] = index < 0 ? [rewritten, null] : [rewritten.slice(0, index), rewritten.slice(index)]
  const fields = {
    href: rewritten,
    path: rewritten,
    pathname,
    search,
    query: search && search.slice(1),
    _raw: rewritten,
  }
  return Object.assign(Object.create(Object.getPrototypeOf(parsed) as object) as object, parsed, fields)
}

/**
 * True for an object that has all its entries itself, as enumerable properties: a copy of it has the same.
 */
export function isPlain(value: unknown): boolean {
  if (!isObject(value) || types.isProxy(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  const isRoot = prototype === null || Object.getPrototypeOf(prototype) === null
  return isRoot && Object.getOwnPropertyNames(value).length === Object.keys(value).length
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
