import type { IncomingMessage } from 'node:http'

/** Replaces the URL that a request's handler sees. */
export interface UrlRewrite {
  /** Maps each URL that the framework shows, whole or from a mount point on. */
  readonly url: (url: string) => string
  /** True for the name of a parameter that stays in parsed queries. Default: all stay. */
  readonly keeps?: ((parameter: string) => boolean) | undefined
}

/**
 * Rewrites the URL wherever layers over `node:http` keep it on Node's request: `url`, `originalUrl`, a parsed `query`, and the parsed URLs of the
 * package parseurl. Returns a function that undoes it, except where another layer has replaced a value meanwhile.
 */
export function rewriteRequestUrl(req: IncomingMessage, { url, keeps }: UrlRewrite): () => void {
  const text = (value: unknown): unknown => (typeof value === 'string' ? url(value) : value)
  const parsed = (value: unknown): unknown => (isObject(value) ? reparsed(value, url) : value)
  const query = (value: unknown): unknown =>
    isObject(value) && keeps !== undefined
      ? Object.fromEntries(Object.entries(value).filter(([name]) => keeps(name)))
      : value
  const rewrites = { url: text, originalUrl: text, query, _parsedUrl: parsed, _parsedOriginalUrl: parsed }
  const undos = Object.entries(rewrites).map(([name, rewrite]) => replaceValue(req, name, rewrite))
  return () => {
    for (const undo of undos) undo()
  }
}

function replaceValue(req: IncomingMessage, name: string, rewrite: (value: unknown) => unknown): () => void {
  // Other getters parse at each read; that of `url` is HTTP/2's.
  const before: unknown = name === 'url' ? req.url : Object.getOwnPropertyDescriptor(req, name)?.value
  if (before === undefined) return () => undefined
  const after = rewrite(before)
  Reflect.set(req, name, after)
  return () => {
    if (Reflect.get(req, name) === after) Reflect.set(req, name, before)
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

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
