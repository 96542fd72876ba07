import type { Cache } from '@cattlegrid/core'
import { compileRoute, httpCache, type RouteOptions, serve } from '@cattlegrid/http'
import { answerOf } from './error-response.ts'
import { FetchExchange } from './fetch-exchange.ts'
import type { WebRouteOptions } from './route-options.ts'
import { requestLike } from './request-like.ts'
import { subrequestsBy } from './subrequests.ts'

const NOTHING: ReadonlySet<string> = new Set()

/** A handler as Bun, Deno, route handlers of Next and the like take it. */
export type CachedHandler<Req extends Request, Rest extends readonly unknown[]> = (
  request: Req,
  ...rest: Rest
) => Promise<Response>

/** The options of `cachedHandler`. */
export interface CachedHandlerOptions<Req extends Request = Request> extends WebRouteOptions<Req> {
  readonly cache: Cache
  /**
   * Part of the key: two cached handlers that may answer one URL need two names. The same in every process.
   * Default: ''.
   */
  readonly name?: string | undefined
  /** Keeps the host awake while the cache refreshes a response behind a stale one. Default: nothing does. */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
}

/**
 * Puts a cache before a handler from `Request` to `Response`. The handler sees of a request what its key
 * holds; a response for which it reads cookies or credentials is its own client's. Other arguments, such as
 * the parameters of a route, are passed on, and are no part of the key.
 *
 * @example
 * import { createCache } from '@cattlegrid/core'
 * import { cachedHandler } from '@cattlegrid/web'
 *
 * const cache = createCache()
 * export const GET = cachedHandler(() => Response.json({ products: [] }), { cache, ttl: '30s' })
 * @throws InvalidOptionError for an option that is unknown or has a value it cannot have.
 */
export function cachedHandler<Req extends Request = Request, Rest extends readonly unknown[] = readonly unknown[]>(
  handler: (request: Req, ...rest: Rest) => Response | Promise<Response>,
  options: CachedHandlerOptions<Req>,
): CachedHandler<Req, Rest> {
  const { cache, name = '', waitUntil, ...routeOptions } = options
  const route = compileRoute('cachedHandler', httpCache(cache), undefined, routeOptions as RouteOptions<Req, Response>)
  const cached: CachedHandler<Req, Rest> = (request, ...rest) => {
    const exchange = new FetchExchange<Req>(request, {
      name,
      pattern: undefined,
      before: {},
      written: NOTHING,
      run: async (shown) => await handler(shown, ...rest),
      passedError: () => undefined,
      answerError: async (error) => answerOf(error),
      subrequests: subrequestsBy(
        (subrequest) => cached(subrequest as Req, ...rest),
        waitUntil,
        (url, init) => requestLike(request, url, init),
      ),
    })
    serve(exchange, route)
    return exchange.result
  }
  return cached
}
