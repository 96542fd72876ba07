import { parse } from 'node:querystring'
import type { Reshape } from '@cattlegrid/http'
import type { FastifyRequest } from 'fastify'

/** Gives the URL of a request this shape, wherever its handler may look. Returns what undoes it; undefined where it cannot be done. */
export function reshaped(request: FastifyRequest, { url, keeps }: Reshape): (() => void) | undefined {
  const { raw, query, originalUrl } = request
  const { url: seen = '' } = raw
  const parsed = queryAnew(seen, url(seen), query)
  if (parsed === undefined) return undefined
  raw.url = url(seen)
  // Fastify remembers it at the first question.
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
 * What Fastify's own parser makes of a URL that gets this shape: its router takes what follows `#` for a query. undefined where another parser
 * is at work, which cannot be asked.
 */
function queryAnew(seen: string, shaped: string, query: unknown): object | undefined {
  const standing = query as object
  if (!seen.includes('#')) return standing
  const [was, is] = [seen, shaped].map((url) => parse(/[?#]([^]*)/.exec(url)?.[1] ?? '', '&', '=', { maxKeys: 0 }))
  return JSON.stringify(was) === JSON.stringify(standing) ? is : undefined
}

/** Fastify's own parser takes `a[b]` for a name. */
function baseOf(parameter: string): string {
  const bracket = parameter.indexOf('[')
  return bracket > 0 ? parameter.slice(0, bracket) : parameter
}
