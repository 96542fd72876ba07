import { compileRoute, type HttpCache, httpCache, purgeEndpoint, type PurgeOptions } from '@cattlegrid/http'
import { InvalidOptionError } from '@cattlegrid/core'
import type { FastifyInstance, FastifyRequest, RouteHandlerMethod } from 'fastify'
import fp from 'fastify-plugin'
import type { FastifyRouteOptions } from './cached.ts'
import { type CattlegridOptions, checkPluginOptions, checkRouteCache } from './options.ts'
import { hasOwnConstraints, RouteHandlers } from './route-handler.ts'
import { warnOfMethod, warnOfMisplaced } from './misplaced.ts'
import { asksForCache, markSeen, watchRoutes } from './route-order.ts'

/**
 * Caches the responses of the routes that are declared after it: those with `config.cache` by its options,
 * the others as their responses declare. By default it stands between the last `preHandler` and the handler:
 * hooks that reject a request do so while an entry is fresh, too.
 *
 * @throws InvalidOptionError, here and where a route is declared.
 */
async function cattlegridPlugin(app: FastifyInstance, options: CattlegridOptions): Promise<void> {
  const { cache, close, defaults } = checkPluginOptions(options)
  if (Object.hasOwn(app, 'cattlegrid'))
    throw new InvalidOptionError('cattlegrid', undefined, ONCE, { is: 'is registered twice' })
  const http = httpCache(cache)
  const handlers = new RouteHandlers(app)
  const refuseEarlyRoutes = watchRoutes(app)
  let declaresRoutes = false
  compileRoute('cattlegrid.defaults', http, defaults, undefined)

  app.decorate('cattlegrid', { cache, purge: (endpoint) => purgeHandler(http, endpoint) })
  app.addHook('onRoute', (declared) => {
    // A default `ttl` does not count for a route without `config.cache`.
    const { cache: own = { ttl: 'origin' } } = declared.config ?? {}
    markSeen(declared)
    declaresRoutes = true
    warnOfMisplaced(declared)
    // A route of @fastify/websocket: its handler gets a socket in the place of a request.
    if (Reflect.get(declared, 'websocket') === true) return
    if (own === false || (!asksForCache(declared.config) && handlers.isOwnHeadRoute(declared))) return
    const { cache: named, ...ofRoute }: FastifyRouteOptions = { ...own }
    const { ttl, invalidateOnUnsafe } = ofRoute
    if (asksForCache(declared.config) && ttl !== undefined && invalidateOnUnsafe !== true) warnOfMethod(declared)
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

const ONCE = 'one registration, at the root; a route may name another cache, config: { cache: { cache, ttl } }'

function purgeHandler(http: HttpCache, options: PurgeOptions<FastifyRequest> | undefined): RouteHandlerMethod {
  const endpoint = purgeEndpoint(http, options)
  return async (request, reply) => {
    const answer = await endpoint({ request, res: reply.raw, method: request.method, target: request.url })
    // For a handler that returns undefined, Fastify sends nothing once the head is out.
    return answer && reply.code(answer.status).headers(answer.fields).send(answer.body)
  }
}

/**
 * The plugin: caches the responses of the routes that are declared after it, and gives the app
 * `app.cattlegrid`.
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
