import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import { RouteBeforePluginError } from './errors.ts'
import { asksForCache, knownAppOf } from './known-apps.ts'

/** Set on the `config` of each route that the plugin has seen, also by another copy of this package, such as its CommonJS build. */
const SEEN = Symbol.for('cattlegrid.seen')

type Config = RouteOptions['config'] & { readonly [SEEN]?: true }

export function markSeen(route: RouteOptions): void {
  route.config = { ...route.config, [SEEN]: true } as Config
}

/** @throws RouteBeforePluginError with the routes of the app that have `config.cache` and were declared before the plugin. */
export function refuseEarlyRoutes(app: FastifyInstance): void {
  const early = (knownAppOf(app)?.cachedRoutes ?? []).filter(({ config }) => !isSeen(config))
  if (early.length > 0) throw new RouteBeforePluginError(early.map(({ method, url }) => `${String(method)} ${url}`))
}

/** @throws RouteBeforePluginError where this request's route was declared before the plugin. For an app that was made before this module was loaded. */
export function refuseEarlyRoute({ routeOptions: { config, method, url } }: FastifyRequest): void {
  if (asksForCache(config) && !isSeen(config)) throw new RouteBeforePluginError([`${String(method)} ${url}`])
}

function isSeen(config: Config | undefined): boolean {
  return config?.[SEEN] === true
}
