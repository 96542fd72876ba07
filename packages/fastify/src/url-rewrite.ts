import { derivedQuery, rewriteRequestUrl, type UrlRewrite } from '@cattlegrid/http'
import type { FastifyRequest } from 'fastify'
import { queryReaderOf } from './query-reader.ts'

/**
 * Rewrites the URL wherever the handler may read it. Returns a function that restores it, or undefined if the
 * URL cannot be rewritten.
 */
export function rewriteUrl(request: FastifyRequest, rewrite: UrlRewrite): (() => void) | undefined {
  const { url } = rewrite
  const reader = queryReaderOf(request.server)
  const { raw, query, originalUrl } = request
  const { url: seen = '' } = raw
  const [written, rewritten] = [reader.textIn(seen), reader.textIn(url(seen))]
  const read = (text: string) => (): unknown => validated(request, reader.parse(text))
  const derived = written === rewritten ? query : derivedQuery(query as object, read(written), read(rewritten))
  if (derived === undefined) return undefined
  // Middleware, as middie and @fastify/express run it, keeps the URL on Node's request.
  const undo = rewriteRequestUrl(raw, rewrite, (text) => reader.parse(text ?? ''))
  if (undo === undefined) return undefined
  // Fastify computes `originalUrl` at the first read and keeps it.
  Object.defineProperty(request, 'originalUrl', { configurable: true, value: url(originalUrl) })
  request.query = derived
  return () => {
    undo()
    Object.defineProperty(request, 'originalUrl', { configurable: true, value: originalUrl })
    request.query = query
  }
}

/** What a validator returns: Fastify's own changes its argument, others return the new `value`. */
type Validated = boolean | { readonly value?: unknown; readonly error?: unknown } | undefined

/**
 * The query as the route's schema completes and changes it, as Fastify does it before the handler; undefined
 * where the schema refuses it, or answers later.
 */
function validated(request: FastifyRequest, parsed: unknown): unknown {
  const validate = request.getValidationFunction('querystring') as
    ((query: unknown, parent: object) => Validated | Promise<unknown>) | undefined
  if (validate === undefined) return parsed
  const parent = { parentData: { query: parsed }, parentDataProperty: 'query' }
  const result =
    'schemaEnv' in validate ? validate(parsed, parent) : (validate as (query: unknown) => Validated)(parsed)
  if (result instanceof Promise) {
    // Unhandled, its rejection would end the process.
    result.catch(() => undefined)
    return undefined
  }
  if (result === false || (typeof result === 'object' && result.error)) return undefined
  return typeof result === 'object' && 'value' in result ? result.value : parent.parentData.query
}
