import type { ByteSize, Duration, LoadOptions } from '@cattlegrid/core'

/** When a route's answers stop being fresh: a duration; `'origin'`: as each answer declares; or decided for each answer. */
export type RouteTtl<Req, Res> = Duration | 'origin' | ((req: Req, res: Res) => Duration | undefined)

/** Options of one cached route, and of the whole app. What is not given comes from the adapter's defaults, then from the cache. */
export interface RouteOptions<Req = unknown, Res = unknown> extends Omit<LoadOptions, 'ttl' | 'isFailure'> {
  /**
   * Fresh for, whatever lifetime the answer declares; its prohibitions still hold. A function is asked when the head of an answer is known;
   * less than 1 ms, NaN or undefined: not stored. Default: `'origin'`, only answers that declare `s-maxage`, `max-age` or `Expires` are stored.
   */
  readonly ttl?: RouteTtl<Req, Res> | undefined
  /** After `ttl`: served at once while one request refreshes behind. With `'origin'` the answer's own window comes first. Default: the cache's. */
  readonly staleWhileRevalidate?: Duration | undefined
  /** After `ttl`: served when the handler fails or is slow. With `'origin'` the answer's own window comes first. Default: the cache's. */
  readonly staleIfError?: Duration | undefined
  /** Answers 404 and 410 are fresh for this, at most for `ttl`; `false`: not stored. Unused with `'origin'`. Default: `'5s'`. */
  readonly negativeTtl?: Duration | false | undefined
  /** Requests that go past the cache, neither served nor stored nor joined; so does one for which it throws. Default: none. */
  readonly skip?: ((req: Req) => boolean) | undefined
  /** A longer body goes to its client and is not stored. Default: `'1mb'`. */
  readonly maxBodyBytes?: ByteSize | undefined
  /** Whether answers carry `Cache-Status` (RFC 9211), and under which name; true: `cattlegrid`. It tells clients what is cached. Default: false. */
  readonly cacheStatus?: boolean | string | undefined
}
