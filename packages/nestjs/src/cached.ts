import { type Duration, InvalidOptionError } from '@cattlegrid/core'
import type { RouteOptions } from '@cattlegrid/http'
import { applyDecorators, SetMetadata, UseInterceptors } from '@nestjs/common'
import { CacheInterceptor } from './cache-interceptor.ts'

/** The key of the metadata of `@Cached()`. */
export const CACHED = 'cattlegrid:cached'
/** The key of the metadata of `@CacheTTL()`. */
export const CACHE_TTL = 'cattlegrid:ttl'

/**
 * The members that the requests of Express and of Fastify share, for functions among the options. Annotate
 * the parameter with your platform's own request for the others.
 */
export interface CachedRequest {
  readonly method: string
  readonly url: string
  readonly originalUrl: string
  readonly protocol: string
  readonly hostname: string
  readonly ip?: string | undefined
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, unknown>>
}

/** The members that the responses of Express and of Fastify share. */
export interface CachedResponse {
  readonly statusCode: number
}

/** Options of a cached handler. A duration as a number is in milliseconds. */
export type CachedOptions<Req = CachedRequest, Res = CachedResponse> = Omit<RouteOptions<Req, Res>, 'phase'>

/**
 * Caches the responses of a `GET` handler, or of all `GET` handlers of a controller. Guards run for every
 * request, also on a hit; interceptors, pipes and the handler run only for the one request that makes the
 * response. Options of a handler come before those of its controller, and those before the module's
 * `defaults`; `@Cached(false)` excludes a handler.
 *
 * The app does not start with an option that is unknown or has a value it cannot have (`InvalidOptionError`),
 * nor with `@Cached()` on what is no `GET` handler, such as a GraphQL resolver, a message handler or an
 * `@Sse()` stream.
 *
 * @example
 * @Get(':id')
 * @Cached({ ttl: '30s', staleWhileRevalidate: '5m', tags: (req) => [`product:${req.params.id}`] })
 * find(@Param('id') id: string) {}
 */
export function Cached<Req = CachedRequest, Res = CachedResponse>(
  options: CachedOptions<Req, Res> | false = {},
  ...more: readonly never[]
): MethodDecorator & ClassDecorator {
  // Without its call, it gets the class, or an object of the class and the name of a method.
  if (typeof options === 'function' || more.length > 0)
    throw new InvalidOptionError('@Cached', undefined, '@Cached() or @Cached({ ttl })', { is: 'was not called' })
  return applyDecorators(SetMetadata(CACHED, options), UseInterceptors(CacheInterceptor))
}

/**
 * The `ttl` of a handler or a controller that uses `CacheInterceptor`. A number is in milliseconds, as in
 * `@nestjs/cache-manager`.
 *
 * @example
 * import { CacheInterceptor, CacheTTL } from '@cattlegrid/nestjs'
 * import { Controller, Get, UseInterceptors } from '@nestjs/common'
 *
 * @Controller('products')
 * @UseInterceptors(CacheInterceptor)
 * export class ProductsController {
 *   @Get()
 *   @CacheTTL(30_000)
 *   list() {
 *     return []
 *   }
 * }
 */
export function CacheTTL(ttl: Duration): MethodDecorator & ClassDecorator {
  return SetMetadata(CACHE_TTL, ttl)
}
