import type { Cache } from '@cattlegrid/core'
import { expressCache } from '@cattlegrid/express'
import express, { type ErrorRequestHandler, type Express } from 'express'
import { Origin } from './origin.ts'

export interface Proxy {
  readonly app: Express
  /** Closes the connections to the origin. */
  close(): void
}

/** A shared cache by RFC 9111: the origin alone decides what is fresh, and for how long. */
export function createProxy(origin: URL, cache: Cache): Proxy {
  const upstream = new Origin(origin)
  const app = express()
  // Express must not add fields of its own to the origin's response.
  app.disable('x-powered-by').disable('etag')
  const cached = expressCache(cache)
  app.use(
    cached({
      ttl: 'origin',
      targets: ['CDN-Cache-Control'],
      staleIfError: '60s',
      // A slow origin is not an error: a waiting request gets its response.
      softTimeout: false,
      // An empty query may be another resource than none: only the origin knows.
      key: { extra: ({ originalUrl }) => originalUrl },
      range: true,
      revalidate: true,
      invalidateOnUnsafe: true,
      cacheStatus: true,
    }),
  )
  app.use((req, res) => upstream.forward(req, res))
  app.use(sendError)
  return { app, close: () => upstream.close() }
}

/** Sends an error of the cache itself: 503 or 504, with `Retry-After`. */
const sendError: ErrorRequestHandler = (error, _req, res, next) => {
  const { status, headers } = error as { readonly status?: number; readonly headers?: Record<string, string> }
  if (res.headersSent || status === undefined) return next(error)
  res
    .status(status)
    .set(headers ?? {})
    .type('text')
    .send('Temporarily unavailable; retry later.\n')
}
