import type { Cache } from '@cattlegrid/core'
import type { RouteOptions } from '@cattlegrid/http'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Options of the plugin. */
export interface CattlegridOptions {
  /** Where answers are kept. The plugin never closes it: it may be shared. No default. */
  readonly cache: Cache
  /** For every route that does not say otherwise; its `ttl` counts only for routes with a `config.cache`. Default: none. */
  readonly defaults?: RouteOptions<FastifyRequest, FastifyReply> | undefined
}
