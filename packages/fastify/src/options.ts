import type { Cache, CloseOptions } from '@cattlegrid/core'
import type { RouteOptions } from '@cattlegrid/http'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Options of the plugin. */
export interface CattlegridOptions {
  /** Where answers are kept. No default. */
  readonly cache: Cache
  /** How the cache is closed when the app is, once its last answer is out: its leases are then handed back. `false`: not at all, for a cache that others go on using. Default: `{ drain: '5s' }`. */
  readonly close?: CloseOptions | false | undefined
  /** For every route that does not say otherwise; its `ttl` counts only for routes with a `config.cache`. Default: none. */
  readonly defaults?: RouteOptions<FastifyRequest, FastifyReply> | undefined
}
