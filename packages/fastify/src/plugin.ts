import { compileRoute, type HttpCache, httpCache, purgeEndpoint, type PurgeOptions } from '@cattlegrid/http'
import type { FastifyInstance, FastifyRequest, RouteHandlerMethod } from 'fastify'
import fp from 'fastify-plugin'
import type { FastifyRouteOptions } from './cached.ts'
import { decorateReplies } from './handler-exchanges.ts'
import { type CattlegridOptions, checkPluginOptions, checkRouteCache } from './options.ts'
import { hasOwnConstraints, RouteHandlers } from './route-handler.ts'
import { asksForCache, markSeen, watchRoutes } from './route-order.ts'

/**
 * Caches the responses of the routes that are declared after it: those with `config.cache` by its options, the others as their responses declare.
 * By default it stands between the last `preHandler` and the handler: hooks that reject a request do so while an entry is fresh, too.
 *
 * @throws InvalidOptionError, here and where a route is declared.
 */
async function cattlegridPlugin(app: FastifyInstance, options: CattlegridOptions): Promise<void> {
  const { cache, close, defaults } = checkPluginOptions(options)
  const http = httpCache(cache)
  const handlers = new RouteHandlers(app)
  const refuseEarlyRoutes = watchRoutes(app)
  let declaresRoutes = false
  compileRoute('cattlegrid.defaults', http, defaults, undefined)

  app.decorate('cattlegrid', { cache, purge: (endpoint) => purgeHandler(http, endpoint) })
  decorateReplies(app)
  app.addHook('onRoute', (declared) => {
    // A default `ttl` does not count for a route without `config.cache`.
    const { cache: own = { ttl: 'origin' } } = declared.config ?? {}
    markSeen(declared)
    declaresRoutes = true
    // A route of @fastify/websocket: its handler gets a socket in the place of a request.
    if (Reflect.get(declared, 'websocket') === true) return
    if (own === false || (!asksForCache(declared.config) && handlers.isOwnHeadRoute(declared))) return
    const { cache: named, ...ofRoute }: FastifyRouteOptions = { ...own }
    const used = checkRouteCache({ cache: named }) ?? cache
    const refreshed = hasOwnConstraints(declared) ? ({ refresh: 'inline', ...defaults } as const) : defaults
    const route = compileRoute('config.cache', httpCache(used), refreshed, own instanceof Object ? ofRoute : own)
    handlers.install(declared, route)
  })
  if (close !== false) app.addHook('onClose', async () => await cache.close(close))
  app.addHook('onReady', (next) => {
    refuseEarlyRoutes(declaresRoutes)
    next()
  })
}

function purgeHandler(http: HttpCache, options: PurgeOptions<FastifyRequest> | undefined): RouteHandlerMethod {
  const endpoint = purgeEndpoint(http, options)
  return async (request, reply) => {
    const answer = await endpoint({ request, res: reply.raw, method: request.method, target: request.url })
    // For a handler that returns undefined, Fastify sends nothing once the head is out.
    return answer && reply.code(answer.status).headers(answer.fields).send(answer.body)
  }
}

/**
 * The plugin: caches the responses of the routes that are declared after it, and gives the app `app.cattlegrid`.
 *
 * @example
 * import { createCache } from '@cattlegrid/core'
 * import { cattlegrid } from '@cattlegrid/fastify'
 * import Fastify from 'fastify'
 *
 * const app = Fastify()
 * await app.register(cattlegrid, { cache: createCache() })
 * app.get('/products', { config: { cache: { ttl: '30s' } } }, async () => [])
 */
export const cattlegrid: typeof cattlegridPlugin = fp(cattlegridPlugin, { name: '@cattlegrid/fastify', fastify: '5.x' })
