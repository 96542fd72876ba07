import type { Cache, CloseOptions } from '@cattlegrid/core'
import { checkOptions, checkValue, type OptionRules, rule } from '@cattlegrid/core/extend'
import type { RouteOptions } from '@cattlegrid/http'
import type { FastifyReply, FastifyRequest, RouteGenericInterface } from 'fastify'

/** A route whose types are not known: its path and query parameters are texts. */
export interface AnyRoute extends RouteGenericInterface {
  readonly Params: Readonly<Record<string, string>>
  readonly Querystring: Readonly<Record<string, unknown>>
}

/** Options of the plugin. */
export interface CattlegridOptions {
  /** Where responses are stored. No default. */
  readonly cache: Cache
  /**
   * Closes the cache with the app, after its last response: its leases are then released. `false`: does not
   * close it, for a cache that is still used elsewhere. Default: `{ drain: '5s' }`.
   */
  readonly close?: CloseOptions | false | undefined
  /**
   * For every route that does not give its own; the `ttl` counts only for routes with a `config.cache`.
   * Default: none.
   */
  readonly defaults?: RouteOptions<FastifyRequest<AnyRoute>, FastifyReply> | undefined
}

/** Options of `config.cache` beside those of a route. */
export interface RouteCacheOptions {
  /**
   * Where the responses of the route are stored. The plugin does not close it. Default: the cache of
   * the plugin.
   */
  readonly cache?: Cache | undefined
}

const cacheRule = rule.object<Cache>('a cache made by createCache()', 'lookup', 'wrap')

const rules = {
  cache: cacheRule,
  close: rule.orFalse(rule.nested({ drain: rule.duration(0) })),
  defaults: rule.object<RouteOptions<FastifyRequest<AnyRoute>, FastifyReply>>('an object with route options'),
} satisfies OptionRules<CattlegridOptions>

/** Options of `register` itself, which Fastify passes to every plugin. */
const OF_REGISTER = new Set(['prefix', 'logLevel', 'logSerializers'])

export function checkPluginOptions(options: CattlegridOptions): CattlegridOptions {
  const own = Object.entries(options).filter(([name]) => !OF_REGISTER.has(name))
  // A cache in the place of the options is no plain object, and is refused as it is.
  const given = cacheRule.parse(options) === undefined ? Object.fromEntries(own) : options
  const { cache, close, defaults } = checkOptions('cattlegrid', given, rules)
  return { cache: checkValue('cattlegrid.cache', cache, cacheRule), close, defaults }
}

/**
 * Returns the cache that a route names.
 *
 * @throws InvalidOptionError for anything else.
 */
export function checkRouteCache({ cache }: RouteCacheOptions): Cache | undefined {
  return checkOptions('config.cache', { cache }, { cache: cacheRule } satisfies OptionRules<RouteCacheOptions>).cache
}
