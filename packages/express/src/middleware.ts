import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Cache } from '@cattlegrid/core'
import { compileRoute, httpCache, type RouteOptions, serve } from '@cattlegrid/http'
import { ExpressExchange } from './exchange.ts'

/** What the functions among the options are given: Express' own request. Annotate the parameter with Express' `Request` for more. */
export interface CachedRequest extends IncomingMessage {
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, unknown>>
  readonly originalUrl: string
  readonly path: string
  readonly hostname: string
  readonly protocol: string
  readonly ip?: string | undefined
}

/**
 * A middleware for `app.use`, a router or a route. It names nothing of Express' request that a route infers, so that `req.params` of the
 * handlers beside it keeps its type.
 */
export type CacheMiddleware = (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => void

/**
 * Makes the middleware of a route, or of the whole app where no `ttl` is given.
 *
 * @throws InvalidOptionError for an option that is unknown or has a value it cannot have.
 */
export type Cached = <Req extends IncomingMessage = CachedRequest, Res extends ServerResponse = ServerResponse>(
  options?: RouteOptions<Req, Res>,
) => CacheMiddleware

/**
 * Puts a cache before Express handlers: `const cached = expressCache(cache)`, then `app.use(cached())` or `app.get(path, cached({ ttl }), handler)`.
 *
 * @param defaults options for every route, where it gives none of its own.
 * @throws InvalidOptionError for an option that is unknown or has a value it cannot have.
 */
export function expressCache<Req extends IncomingMessage = CachedRequest, Res extends ServerResponse = ServerResponse>(
  cache: Cache,
  defaults?: RouteOptions<Req, Res>,
): Cached {
  const http = httpCache(cache)
  compileRoute('expressCache', http, undefined, defaults)
  return (options) => {
    const route = compileRoute('cached', http, defaults as RouteOptions, options as RouteOptions)
    return (req, res, next) => serve(new ExpressExchange(req, res, next), route)
  }
}
