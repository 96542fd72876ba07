import type { RouteOptions } from '@cattlegrid/http'

/**
 * The options of a cached handler or route: those of every adapter, without `phase`, which is Fastify's, and
 * `onError`: an error of the cache is a `Response`, or goes to the error handling of the framework.
 */
export type WebRouteOptions<Req extends Request = Request> = Omit<RouteOptions<Req, Response>, 'phase' | 'onError'>
