import { type Cache, checkOptions, InvalidOptionError, objectRule, type OptionRules } from '@cattlegrid/core'
import { compileRoute, httpCache, type Route, type RouteOptions, serve } from '@cattlegrid/http'
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RouteHandlerMethod,
  RouteOptions as FastifyRoute,
} from 'fastify'
import fp from 'fastify-plugin'
import { FastifyExchange } from './exchange.ts'
import type { CattlegridOptions } from './options.ts'
import { markSeen, refuseEarlyRoute, refuseEarlyRoutes } from './route-order.ts'

/** The options of a cached route: what `config.cache` holds. */
export type FastifyRouteOptions = RouteOptions<FastifyRequest, FastifyReply>

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How the route is cached. Default: as each answer declares. `false`: not at all. */
    cache?: FastifyRouteOptions | false | undefined
  }
  interface FastifyInstance {
    cattlegrid: { readonly cache: Cache }
  }
}

/** Words of `register` itself, which Fastify hands to every plugin. */
const FASTIFYS_OWN = new Set(['prefix', 'logLevel', 'logSerializers'])

/** A route that does not ask is not cached by a default that it may not know of. */
const APP_MODE: FastifyRouteOptions = { ttl: 'origin' }

const optionRules = {
  cache: objectRule<Cache>('a cache made by createCache()', 'lookup', 'wrap'),
  defaults: objectRule<FastifyRouteOptions>('an object with route options'),
} satisfies OptionRules<CattlegridOptions>

/**
 * Caches what the routes declared after it answer: those with `config.cache` by its options, the others as their answers declare.
 * The cache stands between the last `preHandler` and the handler, so whatever turns a request away still does so while an entry is fresh.
 *
 * @throws InvalidOptionError, here and where a route is declared.
 */
async function cattlegridPlugin(app: FastifyInstance, options: CattlegridOptions): Promise<void> {
  const { cache, defaults } = checked(options)
  const http = httpCache(cache)
  const exchanges = new WeakMap<FastifyReply, FastifyExchange>()
  compileRoute('cattlegrid.defaults', http, defaults, undefined)

  app.decorate('cattlegrid', { cache })
  app.addHook('onRoute', (routeOptions) => {
    const { cache: asked = APP_MODE } = routeOptions.config ?? {}
    if (asked === false) return
    const route = compileRoute('config.cache', http, defaults, asked)
    markSeen(routeOptions)
    routeOptions.handler = cachedHandler(routeOptions, route, exchanges)
  })
  app.addHook('onRequest', (request, _reply, next) => {
    refuseEarlyRoute(request)
    next()
  })
  app.addHook('onSend', (_request, reply, payload, onward) => {
    const exchange = exchanges.get(reply)
    if (exchange === undefined) onward(null, payload)
    else exchange.onSend(payload, onward)
  })
  app.addHook('onReady', (next) => {
    refuseEarlyRoutes(app)
    next()
  })
}

/**
 * In the handler's place rather than in a `preHandler` before it: a plugin that is registered after ours may still append a `preHandler`
 * to the route, and that one may be the authentication.
 */
function cachedHandler(
  { handler, constraints }: FastifyRoute,
  route: Route<FastifyRequest, FastifyReply>,
  exchanges: WeakMap<FastifyReply, FastifyExchange>,
): RouteHandlerMethod {
  const site = { layer: layerOf(constraints), version: constraints?.version }
  return function cattlegrid(request, reply) {
    return new Promise((resolve, reject) => {
      const turn = { handler: (): unknown => handler.call(this, request, reply), resolve, reject }
      const exchange = new FastifyExchange(request, reply, site, turn)
      exchanges.set(reply, exchange)
      serve(exchange, route)
    })
  }
}

/** Routes of one URL are told apart by their constraints: a version, a host. */
function layerOf(constraints: FastifyRoute['constraints']): string {
  if (constraints === undefined || Object.keys(constraints).length === 0) return ''
  return JSON.stringify(constraints, (_, value: unknown) => (value instanceof RegExp ? String(value) : value))
}

function checked(options: CattlegridOptions): CattlegridOptions {
  const own = Object.entries(options).filter(([name]) => !FASTIFYS_OWN.has(name))
  const { cache, defaults } = checkOptions('cattlegrid', Object.fromEntries(own), optionRules)
  if (cache === undefined) throw new InvalidOptionError('cattlegrid.cache', undefined, optionRules.cache.accepted)
  return { cache, defaults }
}

export const cattlegrid: typeof cattlegridPlugin = fp(cattlegridPlugin, { name: '@cattlegrid/fastify', fastify: '5.x' })
