import type { IncomingMessage } from 'node:http'
import { types } from 'node:util'

/** Replaces the URL that a request's handler sees. */
export interface UrlRewrite {
  /** Maps each URL that the framework shows, whole or from a mount point on. */
  readonly url: (url: string) => string
  /** True for the name of a parameter that stays in parsed queries. Default: all stay. */
  readonly keeps?: ((parameter: string) => boolean) | undefined
}

/**
 * Rewrites the URL wherever layers over `node:http` keep it on Node's request: `url`, `originalUrl`, a parsed `query`, and the parsed URLs of the
 * package parseurl. Returns a function that undoes it, except where another layer has replaced a value meanwhile; undefined where a property cannot be
 * replaced, and then nothing is changed.
 *
 * @example
 * import { rewriteRequestUrl } from '@cattlegrid/http'
 *
 * const undo = rewriteRequestUrl(req, { url: (url) => url.replace('/v1', '') })
 * undo?.()
 */
export function rewriteRequestUrl(req: IncomingMessage, { url, keeps }: UrlRewrite): (() => void) | undefined {
  if (keeps !== undefined && !isPlain(Reflect.get(req, 'query') ?? {})) return undefined
  const text = (value: unknown): unknown => (typeof value === 'string' ? url(value) : value)
  const parsed = (value: unknown): unknown => (isObject(value) ? reparsed(value, url) : value)
  const query = (value: unknown): unknown =>
    isObject(value) && keeps !== undefined && Object.keys(value).some((name) => !keeps(name))
      ? Object.fromEntries(Object.entries(value).filter(([name]) => keeps(name)))
      : value
  // The query last: a getter that parses the URL at each read shows the rewritten one, and stays.
  const rewrites = { url: text, originalUrl: text, _parsedUrl: parsed, _parsedOriginalUrl: parsed, query }
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

/** Returns a function that undoes it; undefined where the property cannot be replaced. */
function replaceValue(
  req: IncomingMessage,
  name: string,
  rewrite: (value: unknown) => unknown,
): (() => void) | undefined {
  const own = Object.getOwnPropertyDescriptor(req, name)
  const before: unknown = Reflect.get(req, name)
  const after = rewrite(before)
  if (after === before) return () => undefined
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
 * True for an object that has all its entries itself, as enumerable properties: those can be filtered.
 *
 * @example
 * import { isPlain } from '@cattlegrid/http'
 *
 * console.log(isPlain({ page: '1' })) // true
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
