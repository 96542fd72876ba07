import {
  type Cache,
  checkOptions,
  durationRule,
  InvalidOptionError,
  nestedRule,
  objectRule,
  type OptionRules,
  orFalse,
} from '@cattlegrid/core'
import {
  compileRoute,
  type HttpCache,
  httpCache,
  purgeEndpoint,
  type PurgeOptions,
  type ResponseDirectives,
  type Route,
  type RouteOptions,
  serve,
  serveStored,
  directivesOf,
} from '@cattlegrid/http'
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onRequestHookHandler,
  RouteHandlerMethod,
  RouteOptions as FastifyRoute,
} from 'fastify'
import fp from 'fastify-plugin'
import { FastifyExchange } from './exchange.ts'
import type { CattlegridOptions } from './options.ts'
import { isKnown, markSeen, refuseEarlyRoute, refuseEarlyRoutes } from './route-order.ts'
import { ExchangeSlot } from './slot.ts'

/** The options of a cached route: what `config.cache` holds. */
export type FastifyRouteOptions = RouteOptions<FastifyRequest, FastifyReply>

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How the route is cached. Default: as each answer declares. `false`: not at all. */
    cache?: FastifyRouteOptions | false | undefined
  }
  interface FastifyInstance {
    cattlegrid: Cattlegrid
  }
  interface FastifyReply {
    /** What the handler of a cached route says about its own answer, before it is sent. */
    readonly cattlegrid: ResponseDirectives
  }
}

/** What the plugin adds to an app. */
export interface Cattlegrid {
  readonly cache: Cache
  /**
   * Makes the handler of an endpoint that purges by tag and by URL: `app.post('/purge', app.cattlegrid.purge({ authorize }))`, then
   * `POST /purge?tag=product:7&url=https://shop.example/products/7`. Off without `authorize`.
   *
   * @throws InvalidOptionError for an option that is unknown or has a value it cannot have.
   */
  purge(options?: PurgeOptions<FastifyRequest>): RouteHandlerMethod
}

/** Words of `register` itself, which Fastify hands to every plugin. */
const FASTIFYS_OWN = new Set(['prefix', 'logLevel', 'logSerializers'])

/** A route that does not ask is not cached by a default that it may not know of. */
const APP_MODE: FastifyRouteOptions = { ttl: 'origin' }

const optionRules = {
  cache: objectRule<Cache>('a cache made by createCache()', 'lookup', 'wrap'),
  close: orFalse(nestedRule({ drain: durationRule(0) })),
  defaults: objectRule<FastifyRouteOptions>('an object with route options'),
} satisfies OptionRules<CattlegridOptions>

/**
 * Caches what the routes declared after it answer: those with `config.cache` by its options, the others as their answers declare.
 * The cache stands between the last `preHandler` and the handler, so whatever turns a request away still does so while an entry is fresh.
 *
 * @throws InvalidOptionError, here and where a route is declared.
 */
async function cattlegridPlugin(app: FastifyInstance, options: CattlegridOptions): Promise<void> {
  const { cache, close, defaults } = checked(options)
  const http = httpCache(cache)
  const slot = new ExchangeSlot(app)
  compileRoute('cattlegrid.defaults', http, defaults, undefined)

  app.decorate('cattlegrid', { cache, purge: (endpoint) => purgeHandler(http, endpoint) })
  app.decorateReply('cattlegrid', {
    getter() {
      return directivesOf(this.raw)
    },
  })
  app.addHook('onRoute', (routeOptions) => {
    const { cache: asked = APP_MODE } = routeOptions.config ?? {}
    if (asked === false) return
    const route = compileRoute('config.cache', http, defaults, asked)
    markSeen(routeOptions)
    if (route.phase === 'onRequest')
      routeOptions.onRequest = [early(routeOptions, route, slot), routeOptions.onRequest ?? []].flat()
    routeOptions.handler = cachedHandler(routeOptions, route, slot)
  })
  if (!isKnown(app))
    app.addHook('onRequest', (request, _reply, next) => {
      refuseEarlyRoute(request)
      next()
    })
  app.addHook('onSend', (_request, reply, payload, onward) => {
    const exchange = slot.of(reply)
    if (exchange === undefined) onward(null, payload)
    else exchange.onSend(payload, onward)
  })
  if (close !== false) app.addHook('onClose', async () => await cache.close(close))
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
  slot: ExchangeSlot,
): RouteHandlerMethod {
  const site = { layer: layerOf(constraints), version: constraints?.version }
  return function cattlegrid(request, reply) {
    const exchange = new FastifyExchange(request, reply, site, () => handler.call(this, request, reply))
    slot.put(reply, exchange)
    serve(exchange, route)
    return exchange.returned
  }
}

function purgeHandler(http: HttpCache, options: PurgeOptions<FastifyRequest> | undefined): RouteHandlerMethod {
  const endpoint = purgeEndpoint(http, options)
  return async (request, reply) => {
    const answer = await endpoint({ request, res: reply.raw, method: request.method, target: request.url })
    // For a handler that returns undefined, Fastify sends nothing once the head is out.
    return answer && reply.code(answer.status).headers(answer.fields).send(answer.body)
  }
}

/** Before authentication and validation, where the route asks for that: whatever is fresh is everybody's. */
function early(
  { constraints }: FastifyRoute,
  route: Route<FastifyRequest, FastifyReply>,
  slot: ExchangeSlot,
): onRequestHookHandler {
  const site = { layer: layerOf(constraints), version: constraints?.version }
  return (request, reply, next) => {
    const exchange = new FastifyExchange(request, reply, site, () => undefined)
    slot.put(reply, exchange)
    serveStored(exchange, route, () => {
      slot.put(reply, undefined)
      next()
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
  const { cache, close, defaults } = checkOptions('cattlegrid', Object.fromEntries(own), optionRules)
  if (cache === undefined) throw new InvalidOptionError('cattlegrid.cache', undefined, optionRules.cache.accepted)
  return { cache, close, defaults }
}

export const cattlegrid: typeof cattlegridPlugin = fp(cattlegridPlugin, { name: '@cattlegrid/fastify', fastify: '5.x' })
