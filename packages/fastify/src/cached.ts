import type { RouteOptions } from '@cattlegrid/http'
import type { FastifyReply, FastifyRequest, RouteGenericInterface } from 'fastify'
import type { AnyRoute, RouteCacheOptions } from './options.ts'

/**
 * The options of a route: the value of `config.cache`. Its functions get Fastify's request, with the types
 * of `Route`.
 */
export type FastifyRouteOptions<Route extends RouteGenericInterface = AnyRoute> = RouteOptions<
  FastifyRequest<Route>,
  FastifyReply
> &
  RouteCacheOptions

/**
 * Returns the options of a route, checked by the compiler: `config: { cache: cached({ ttl: '30s' }) }`.
 * Without it, Fastify's types take a misspelt name in `config.cache` for a setting of the app, and the app
 * does not start. `Route` is that of the declaration; by default, parameters are texts.
 *
 * @example
 * import { cached, cattlegrid } from '@cattlegrid/fastify'
 * import Fastify from 'fastify'
 *
 * const app = Fastify()
 * await app.register(cattlegrid, { cache })
 * app.get(
 *   '/products/:id',
 *   { config: { cache: cached({ ttl: '30s', tags: ({ params }) => [`product:${params['id']}`] }) } },
 *   async ({ params }) => params,
 * )
 */
export function cached<Route extends RouteGenericInterface = AnyRoute>(
  options: FastifyRouteOptions<Route>,
): FastifyRouteOptions {
  return options as FastifyRouteOptions
}
