import { subscribe } from 'node:diagnostics_channel'
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import { RouteBeforePluginError } from './errors.ts'

/** On the `config` of each route that the plugin saw. */
const SEEN = Symbol('cattlegrid.seen')

type Config = RouteOptions['config'] & { readonly [SEEN]?: true }

/** The routes of each app that asked for the cache, in the order of their declaration, with whether the plugin saw them. */
const asked = new WeakMap<object, (() => string | undefined)[]>()

// An app tells of itself when it is made: the one way to learn of the routes that it declares before it registers us.
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

/** @throws RouteBeforePluginError naming the routes of the app that ask for a cache and came too early to get it. */
export function refuseEarlyRoutes(app: FastifyInstance): void {
  const early = (asked.get(rootOf(app)) ?? []).map((nameOf) => nameOf()).filter((name) => name !== undefined)
  if (early.length > 0) throw new RouteBeforePluginError(early)
}

/** Whether all routes that the app declares early were seen. */
export function isKnown(app: FastifyInstance): boolean {
  return asked.has(rootOf(app))
}

/** For apps that were made before this module was loaded: at the first request, then. */
export function refuseEarlyRoute({ routeOptions: { config, method, url } }: FastifyRequest): void {
  if (asks(config) && !isSeen(config)) throw new RouteBeforePluginError([`${String(method)} ${url}`])
}

function asks(config: Config | undefined): boolean {
  return config?.cache !== undefined && config.cache !== false
}

function isSeen(config: Config | undefined): boolean {
  return config?.[SEEN] === true
}

/** Encapsulated apps inherit from the one that they were registered on. */
function rootOf(app: FastifyInstance): object {
  for (let one: object | null = app; one !== null; one = Object.getPrototypeOf(one) as object | null)
    if (asked.has(one)) return one
  return app
}
