import { subscribe } from 'node:diagnostics_channel'
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import { RouteBeforePluginError } from './errors.ts'

/** Set on the `config` of each route that the plugin has seen. */
const SEEN = Symbol('cattlegrid.seen')

type Config = RouteOptions['config'] & { readonly [SEEN]?: true }

/** By app, one function for each route with `config.cache`, in the order of declaration: it returns the route's name unless the plugin has seen it. */
const asked = new WeakMap<object, (() => string | undefined)[]>()

// Fastify publishes each new app on this channel: the only way to see the routes that an app declares before it registers the plugin.
subscribe('fastify.initialization', (message) => {
  const { fastify } = message as { readonly fastify: FastifyInstance }
  const routes: (() => string | undefined)[] = []
  asked.set(fastify, routes)
  fastify.addHook('onRoute', (route) => {
    if (asks(route.config))
      routes.push(() => (isSeen(route.config) ? undefined : `${String(route.method)} ${route.url}`))
  })
})

export function markSeen(route: RouteOptions): void {
  route.config = { ...route.config, [SEEN]: true } as Config
}

/** @throws RouteBeforePluginError with the routes of the app that have `config.cache` and were declared before the plugin. */
export function refuseEarlyRoutes(app: FastifyInstance): void {
  const early = (asked.get(rootOf(app)) ?? []).map((nameOf) => nameOf()).filter((name) => name !== undefined)
  if (early.length > 0) throw new RouteBeforePluginError(early)
}

/** Whether the routes that the app declared before the plugin are known. */
export function isKnown(app: FastifyInstance): boolean {
  return asked.has(rootOf(app))
}

/** @throws RouteBeforePluginError where this request's route was declared before the plugin. For an app that was made before this module was loaded. */
export function refuseEarlyRoute({ routeOptions: { config, method, url } }: FastifyRequest): void {
  if (asks(config) && !isSeen(config)) throw new RouteBeforePluginError([`${String(method)} ${url}`])
}

function asks(config: Config | undefined): boolean {
  return config?.cache !== undefined && config.cache !== false
}

function isSeen(config: Config | undefined): boolean {
  return config?.[SEEN] === true
}

/** An encapsulated app has the app that it was registered on as its prototype. */
function rootOf(app: FastifyInstance): object {
  for (let one: object | null = app; one !== null; one = Object.getPrototypeOf(one) as object | null)
    if (asked.has(one)) return one
  return app
}
