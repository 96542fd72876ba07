import type { FastifyInstance, RouteOptions } from 'fastify'
import type { FastifyRouteOptions } from './cached.ts'
import { RouteBeforePluginError, UnsupportedFastifyError } from './errors.ts'
import { internalOf } from './internals.ts'

/** Set on the `config` of each route that the plugin has seen, in whichever copy of this package. */
const SEEN = Symbol.for('cattlegrid.seen')
/** Where the routes of an app are noted, in whichever copy of this package. */
const ROUTES = Symbol.for('cattlegrid.routes')

type Config = NonNullable<RouteOptions['config']> & {
  readonly [SEEN]?: true
  readonly method?: unknown
  readonly url?: unknown
}

interface Routes {
  /** The number of routes that Fastify has finished. */
  count: number
  /** Those with `config.cache` that no plugin has seen. */
  readonly early: string[]
}

/**
 * Fastify tells its part for unknown URLs of each finished route, whether declared before a plugin or
 * after it.
 */
interface RouteListener {
  setContext?: (app: FastifyInstance, context: { readonly config?: Config | undefined }) => void
  [ROUTES]?: Routes
}

export function markSeen(route: RouteOptions): void {
  route.config = { ...route.config, [SEEN]: true } as Config
}

/**
 * Notes the routes of an app when it gets ready, those included that were declared before. Returns a function
 * for the time when it is ready.
 *
 * @throws UnsupportedFastifyError if Fastify does not tell them. The returned function throws
 * RouteBeforePluginError with the routes that have `config.cache` and were declared before the plugin.
 */
export function watchRoutes(app: FastifyInstance): (declared: boolean) => void {
  const listener = internalOf(app, 'fastify.404') as RouteListener
  const routes = (listener[ROUTES] ??= noteRoutes(listener))
  return (declared) => {
    if (declared && routes.count === 0) throw new UnsupportedFastifyError('fastify.404')
    if (routes.early.length > 0) throw new RouteBeforePluginError(routes.early)
  }
}

function noteRoutes(listener: RouteListener): Routes {
  const { setContext } = listener
  if (typeof setContext !== 'function') throw new UnsupportedFastifyError('fastify.404')
  const routes: Routes = { count: 0, early: [] }
  listener.setContext = function (app, context) {
    const { config } = context
    routes.count += 1
    if (asksForCache(config) && config?.[SEEN] !== true)
      routes.early.push(`${String(config?.method)} ${String(config?.url)}`)
    setContext.call(this, app, context)
  }
  return routes
}

/** `config`: the own configuration of a route. */
export function asksForCache(
  config: { readonly cache?: FastifyRouteOptions | false | undefined } | undefined,
): boolean {
  return config?.cache !== undefined && config.cache !== false
}
