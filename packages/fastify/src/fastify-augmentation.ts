import type { Cache } from '@cattlegrid/core'
import type { PurgeOptions, ResponseDirectives } from '@cattlegrid/http'
import type { FastifyRequest, RouteHandlerMethod } from 'fastify'
import type { FastifyRouteOptions } from './cached.ts'

/** Members that the plugin adds to an app. */
export interface Cattlegrid {
  readonly cache: Cache
  /**
   * Makes the handler of an endpoint that purges by tag and by URL:
   * `app.post('/purge', app.cattlegrid.purge({ authorize }))`, then
   * `POST /purge?tag=product:7&url=https://shop.example/products/7`. Off without `authorize`.
   *
   * @throws InvalidOptionError for an option that is unknown or has a value it cannot have.
   */
  purge(options?: PurgeOptions<FastifyRequest>): RouteHandlerMethod
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The caching of the route. Default: as each response declares. `false`: not at all. */
    cache?: FastifyRouteOptions | false | undefined
  }
  interface FastifyInstance {
    cattlegrid: Cattlegrid
  }
  interface FastifyReply {
    /** Decisions of the handler of a cached route about its own response, before it sends it. */
    readonly cattlegrid: ResponseDirectives
  }
}
