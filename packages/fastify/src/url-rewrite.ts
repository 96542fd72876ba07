import { parse } from 'node:querystring'
import { isPlain, rewriteRequestUrl, type UrlRewrite } from '@cattlegrid/http'
import type { FastifyRequest } from 'fastify'

/** Rewrites the URL wherever the handler may read it. Returns a function that restores it, or undefined if the URL cannot be rewritten. */
export function rewriteUrl(request: FastifyRequest, rewrite: UrlRewrite): (() => void) | undefined {
  const { url, keeps } = rewrite
  const { raw, query, originalUrl } = request
  const { url: seen = '' } = raw
  const parsed = reparsedQuery(seen, url(seen), query)
  if (parsed === undefined || (keeps !== undefined && !isPlain(parsed))) return undefined
  // Middleware, as middie and @fastify/express run it, keeps the URL on Node's request.
  const undo = rewriteRequestUrl(raw, rewrite)
  if (undo === undefined) return undefined
  // Fastify computes `originalUrl` at the first read and keeps it.
  Object.defineProperty(request, 'originalUrl', { configurable: true, value: url(originalUrl) })
  request.query = keeps === undefined ? parsed : keptQuery(request, parsed, keeps)
  return () => {
    undo()
    Object.defineProperty(request, 'originalUrl', { configurable: true, value: originalUrl })
    request.query = query
  }
}

/**
 * The present query; for a URL with `#`, where Fastify's router lets a query begin, that of the rewritten URL: undefined if the app has a query
 * parser of its own, which cannot be called here.
 */
function reparsedQuery(seen: string, rewritten: string, query: unknown): object | undefined {
  const current = query as object
  if (!seen.includes('#')) return current
  const [before, after] = [seen, rewritten].map((url) =>
    parse(/[?#]([^]*)/.exec(url)?.[1] ?? '', '&', '=', { maxKeys: 0 }),
  )
  return JSON.stringify(before) === JSON.stringify(current) ? after : undefined
}

/** The parameters that stay, and the defaults that the route's schema gives to the others. */
function keptQuery(request: FastifyRequest, query: object, keeps: (parameter: string) => boolean): object {
  const kept: Readonly<Record<string, unknown>> = Object.fromEntries(
    Object.entries(query).filter(([name]) => keeps(name)),
  )
  return { ...defaultsOf(request, kept), ...kept }
}

/** The query as the route's schema completes it. A validator adds the defaults to its argument, or returns a new `value`. */
function defaultsOf(request: FastifyRequest, query: object): object {
  const completed = { ...query }
  try {
    const result: unknown = request.getValidationFunction('querystring')?.(completed)
    // Ignores an asynchronous validator's rejection: unhandled, it would end the process.
    Promise.resolve(result).catch(() => undefined)
    return (result as { readonly value?: object | undefined } | undefined)?.value ?? completed
  } catch {
    return completed
  }
}
