import { parse } from 'node:querystring'
import type { UrlRewrite } from '@cattlegrid/http'
import type { FastifyRequest } from 'fastify'

/** Rewrites the URL wherever the handler may read it. Returns a function that restores it, or undefined if the URL cannot be rewritten. */
export function rewriteUrl(request: FastifyRequest, { url, keeps }: UrlRewrite): (() => void) | undefined {
  const { raw, query, originalUrl } = request
  const { url: seen = '' } = raw
  const parsed = reparsedQuery(seen, url(seen), query)
  if (parsed === undefined) return undefined
  raw.url = url(seen)
  // Fastify computes `originalUrl` at the first read and keeps it.
  Object.defineProperty(request, 'originalUrl', { configurable: true, value: url(originalUrl) })
  request.query =
    keeps === undefined ? parsed : Object.fromEntries(Object.entries(parsed).filter(([name]) => keeps(baseOf(name))))
  return () => {
    raw.url = seen
    Object.defineProperty(request, 'originalUrl', { configurable: true, value: originalUrl })
    request.query = query
  }
}

/**
 * The query that Fastify's own parser makes of the rewritten URL; its router takes what follows `#` for a query. Undefined if the app has another
 * query parser, which cannot be called here.
 */
function reparsedQuery(seen: string, rewritten: string, query: unknown): object | undefined {
  const current = query as object
  if (!seen.includes('#')) return current
  const [before, after] = [seen, rewritten].map((url) =>
    parse(/[?#]([^]*)/.exec(url)?.[1] ?? '', '&', '=', { maxKeys: 0 }),
  )
  return JSON.stringify(before) === JSON.stringify(current) ? after : undefined
}

/** The name before the bracket: Fastify's own parser takes all of `a[b]` for a name. */
function baseOf(parameter: string): string {
  const bracket = parameter.indexOf('[')
  return bracket > 0 ? parameter.slice(0, bracket) : parameter
}
