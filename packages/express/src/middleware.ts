import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Cache, InvalidOptionError } from '@cattlegrid/core'
import {
  compileRoute,
  httpCache,
  nextDeclaration,
  type NodeMiddleware,
  purgeMiddleware,
  type PurgeOptions,
  type ResponseDirectives,
  type Route,
  type RouteOptions,
  serve,
} from '@cattlegrid/http'
import { ExpressExchange, type ExpressRequest } from './express-request.ts'
import { MiddlewarePlaces } from './middleware-places.ts'
import { noteReached, tell, warnOfMethod, watchPlaces } from './misplaced.ts'

declare global {
  namespace Express {
    interface Response {
      /** Decisions of the handler of a cached route about its own response, before it sends it. */
      readonly cattlegrid: ResponseDirectives
    }
  }
}

/**
 * The request that functions among the options get: Express' own. Annotate the parameter with Express'
 * `Request` for all of its members.
 */
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
 * A middleware for `app.use`, a router or a route. Its types leave `req.params` of the handlers beside it as
 * Express infers it.
 */
export type CacheMiddleware = NodeMiddleware

export interface Cached {
  /**
   * Makes a middleware for a route, a router or an app. A `ttl` given here counts wherever it stands.
   *
   * @throws InvalidOptionError for an option that is unknown or has a value it cannot have.
   */
  <Req extends IncomingMessage = CachedRequest, Res extends ServerResponse = ServerResponse>(
    options?: RouteOptions<Req, Res>,
  ): CacheMiddleware
  /**
   * Makes the handler of an endpoint that purges by tag and by URL:
   * `app.post('/purge', cached.purge({ authorize }))`, then
   * `POST /purge?tag=product:7&url=https://shop.example/products/7`. Off without `authorize`.
   *
   * @throws InvalidOptionError for an option that is unknown or has a value it cannot have.
   */
  purge<Req extends IncomingMessage = CachedRequest>(options?: PurgeOptions<Req>): CacheMiddleware
}

/**
 * Puts a cache before Express handlers: `const cached = expressCache(cache)`, then `app.use(cached())` or
 * `app.get(path, cached({ ttl }), handler)`.
 *
 * @param defaults options of every `cached()` that does not give its own; the `ttl` counts only for those
 * that stand on a route, not in `app.use`.
 *
 * @example
 * import { createCache } from '@cattlegrid/core'
 * import { expressCache } from '@cattlegrid/express'
 * import express from 'express'
 *
 * const cached = expressCache(createCache())
 * const app = express()
 * app.get('/products', cached({ ttl: '30s' }), (_req, res) => res.json([]))
 * @throws InvalidOptionError for an option that is unknown or has a value it cannot have.
 */
export function expressCache<Req extends IncomingMessage = CachedRequest, Res extends ServerResponse = ServerResponse>(
  cache: Cache,
  defaults?: RouteOptions<Req, Res>,
): Cached {
  const http = httpCache(cache)
  compileRoute('expressCache', http, undefined, defaults)
  const cached = (options?: unknown, ...more: readonly unknown[]): CacheMiddleware => {
    const [, goOn] = more
    // Express calls a middleware with a response and `next`: the factory itself was passed as one.
    if (typeof goOn === 'function') {
      tell(cached, 'CATTLEGRID_NOT_CALLED', NOT_CALLED)
      return (goOn as () => never)()
    }
    if (more.length > 0 || typeof options === 'function')
      throw new InvalidOptionError('cached', undefined, USAGE, { is: 'got a handler' })
    const compile = (own: unknown, outer: unknown = defaults): Route =>
      compileRoute('cached', http, outer as RouteOptions, own as RouteOptions)
    const route = compile(options)
    // A default `ttl` would store the pages of a whole app, whatever they say themselves.
    const { ttl, invalidateOnUnsafe } = (options ?? {}) as RouteOptions
    const isForReads = ttl !== undefined && invalidateOnUnsafe !== true
    const hasDefaultTtl = defaults?.ttl !== undefined && ttl === undefined
    const appRoute = hasDefaultTtl ? compile(options, { ...defaults, ttl: undefined }) : route
    const middleware: CacheMiddleware = (request, res, next) => {
      const req = request as ExpressRequest
      const place = places.placeOf(req)
      if (place === undefined) {
        tell(middleware, 'CATTLEGRID_USED_TWICE', USED_TWICE)
        return next()
      }
      if (req.route !== undefined) {
        noteReached(req.route)
        if (isForReads && req.method !== 'GET' && places.declaredBy(req.route)) warnOfMethod(req.route, req)
      }
      const usesRouteOptions = appRoute === route || (req.route !== undefined && places.declaredBy(req.route))
      serve(new ExpressExchange(req, res, next, place), usesRouteOptions ? route : appRoute)
    }
    const places = new MiddlewarePlaces(middleware, nextDeclaration(http))
    watchPlaces()
    return middleware
  }
  const purge: Cached['purge'] = (options) => purgeMiddleware(http, options)
  return Object.assign(cached, { purge })
}

const USAGE = 'options alone, and the handler behind it: app.get(path, cached({ ttl }), handler)'

const NOT_CALLED =
  'cached was given to Express itself, which calls it in the place of a middleware, so nothing is cached there. ' +
  'Call it: app.use(cached()), or app.get(path, cached({ ttl }), handler).'

const USED_TWICE =
  'One middleware of cached() is used twice at one mount point, so nothing is cached there: which of the two a request is in cannot be told. ' +
  'Call cached() for each router.use and app.use.'
