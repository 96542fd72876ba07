import type { Cache } from '@cattlegrid/core'
import type { RouteOptions } from '@cattlegrid/http'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** What `config.cache` of a route may be: its options, or `false` for a route that the cache has nothing to do with. */
export type FastifyRouteOptions = RouteOptions<FastifyRequest, FastifyReply>

/** Options of the plugin. */
export interface CattlegridOptions {
  /** Where answers are kept. The plugin never closes it: it may be shared. No default. */
  readonly cache: Cache
  /** For every route that does not say otherwise; its `ttl` counts only for routes with a `config.cache`. Default: none. */
  readonly defaults?: FastifyRouteOptions | undefined
}
