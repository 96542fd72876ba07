import type { Cache } from '@cattlegrid/core'
import { expressCache } from '@cattlegrid/express'
import express, { type ErrorRequestHandler, type Express } from 'express'
import { Origin } from './origin.ts'

export interface Proxy {
  readonly app: Express
  /** Lets go of the connections to the origin. */
  close(): void
}

/** A shared cache as RFC 9111 describes it: what is fresh, and for how long, is the origin's word alone. */
export function createProxy(origin: URL, cache: Cache): Proxy {
  const upstream = new Origin(origin)
  const app = express()
  // What the origin says is passed on: nothing of Express' own is added to it.
  app.disable('x-powered-by').disable('etag')
  const cached = expressCache(cache)
  app.use(
    cached({
      ttl: 'origin',
      targets: ['CDN-Cache-Control'],
      staleIfError: '60s',
      // A slow origin is no error: whoever waits gets its answer.
      softTimeout: false,
      // Another order of parameters may be another resource: only the origin knows.
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

/** What the cache says in the place of an answer that it could not get: 503 or 504, with `Retry-After`. */
const sendError: ErrorRequestHandler = (error, _req, res, next) => {
  const { status, headers } = error as { readonly status?: number; readonly headers?: Record<string, string> }
  if (res.headersSent || status === undefined) return next(error)
  res
    .status(status)
    .set(headers ?? {})
    .type('text')
    .send('The origin has no answer at the moment.\n')
}
