import type { ByteSize, Duration, LoadOptions } from '@cattlegrid/core'
import type { ServeError } from '../response/errors.ts'

/** When a route's answers stop being fresh: a duration; `'origin'`: as each answer declares; or decided for each answer. */
export type RouteTtl<Req, Res> = Duration | 'origin' | ((req: Req, res: Res) => Duration | undefined)

/** What a route keys on beside the URL. */
export interface KeyOptions<Req = unknown> {
  /** Request fields whose values are part of the key. Default: none. */
  readonly headers?: readonly string[] | undefined
  /** Cookies whose values are part of the key. Default: none. */
  readonly cookies?: readonly string[] | undefined
  /** Whatever else tells two answers of one URL apart, such as a tenant; a request for which it throws goes past the cache. Default: nothing. */
  readonly extra?: ((req: Req) => string) | undefined
}

/** Parameters that do not belong to the resource. */
export interface QueryOptions {
  /** Names that are neither in the key nor seen by the handler. Default: none. */
  readonly ignore?: readonly string[] | undefined
}

/** Options of one cached route, and of the whole app. What is not given comes from the adapter's defaults, then from the cache. */
export interface RouteOptions<Req = unknown, Res = unknown> extends Omit<LoadOptions, 'ttl' | 'isFailure'> {
  /** Whether the cache is used at all, for everybody or for a request. Default: true. */
  readonly enabled?: boolean | ((req: Req) => boolean) | undefined
  /** `observe`: every request runs its own handler, and what the cache would have done is told, in `Cache-Status` and to `cattlegrid:observe` of `node:diagnostics_channel`. Default: `'serve'`. */
  readonly mode?: 'serve' | 'observe' | undefined
  /** Requests that go past the cache, neither served nor stored nor joined; so does one for which it throws. Default: none. */
  readonly skip?: ((req: Req) => boolean) | undefined
  /** What tells answers of one URL apart. Default: nothing. */
  readonly key?: KeyOptions<Req> | undefined
  /** Which parameters count: all; those named; none (`false`); all but `ignore`. The others are kept from the handler. Default: true. */
  readonly query?: boolean | readonly string[] | QueryOptions | undefined
  /** The hosts that are cached; others go past the cache. Default: every host. */
  readonly hosts?: readonly string[] | undefined
  /** Whether a request with any cookie goes past the cache. Cookies are in no key but by `key.cookies`. Default: `'ignore'`. */
  readonly cookies?: 'ignore' | 'bypass' | undefined
  /** A request with `Authorization` goes past the cache, or has entries of its own. Default: `'bypass'`; with `ttl: 'origin'` answers that say `public`, `s-maxage` or `must-revalidate` are kept for all who have credentials. */
  readonly authorization?: 'bypass' | 'key' | undefined
  /** Credentials are looked past: everybody gets what anybody got. Default: false. */
  readonly unsafeShareAuthorized?: boolean | undefined
  /** An answer with `Set-Cookie` is kept without it, and given to others so. Default: false. */
  readonly unsafeStripSetCookie?: boolean | undefined
  /** Names in `Vary` for which variants are kept although nearly every client has a value of its own. Default: none. */
  readonly unsafeVaryOn?: readonly string[] | undefined
  /** Whether request fields that many handlers believe and no key holds, such as `X-Forwarded-Host`, are taken from a leader. Default: true. */
  readonly scrub?: boolean | undefined
  /** Response fields that are not stored. Default: none. */
  readonly strip?: readonly string[] | undefined
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
  /** Fields that count before `Cache-Control` for this cache (RFC 9213), such as `'CDN-Cache-Control'`; the first that can be read wins. Default: none. */
  readonly targets?: readonly string[] | undefined
  /** What `invalidateTags` finds the answers by: at most 99, of 1 to 256 characters each; asked when the head of an answer is known. Default: none. */
  readonly tags?: readonly string[] | ((req: Req, res: Res) => readonly string[]) | undefined
  /** A response field with more tags, separated by blanks or commas, such as `'Surrogate-Key'`. Default: false. */
  readonly tagHeader?: string | false | undefined
  /** A longer body goes to its client and is not stored. Default: `'1mb'`. */
  readonly maxBodyBytes?: ByteSize | undefined
  /** Bytes that the answers being recorded at this moment hold together, over all routes of the process: one that would go beyond goes to its client and is not stored. Default: `'64mb'`. */
  readonly maxCaptureBytes?: ByteSize | undefined
  /** Variants of one URL that a process keeps; one more puts out the oldest. Default: 16. */
  readonly maxVariants?: number | undefined
  /** Handlers of the route that run at once for this cache in this process; one more waits its turn. Default: no limit. */
  readonly maxLoads?: number | undefined
  /** Whether a part of a stored body is answered with 206. Default: false, with the whole. */
  readonly range?: boolean | undefined
  /** Whether a handler that makes an expired answer anew is given its validators, and may say 304: for handlers that ask somebody else. Windows that the route does not name are 0 then. Default: false. */
  readonly revalidate?: boolean | undefined
  /** Requests whose `Cache-Control` is obeyed (`no-cache`, `no-store`, `max-age`, `only-if-cached`): each can make the handler run. Default: none. */
  readonly clientDirectives?: ((req: Req) => boolean) | false | undefined
  /** Stored answers without a `Cache-Control` of their own tell clients this `max-age`, in whole seconds. Default: the library adds none. */
  readonly clientMaxAge?: Duration | undefined
  /** `age`: answers keep their `Date` and tell their `Age`. `reset`: each looks as if it were made now. Default: `'age'`. */
  readonly downstream?: 'age' | 'reset' | undefined
  /** `behind`: a stale answer is refreshed by a request of our own. `inline`: by the first client that comes; for routes behind authentication. Default: `'behind'`. */
  readonly refresh?: 'behind' | 'inline' | undefined
  /** Request fields of the client that a refresh behind carries, beside those in the key and in `Vary`. Default: none. */
  readonly refreshHeaders?: readonly string[] | undefined
  /** Whether a successful POST, PUT, PATCH or DELETE makes all stored answers of its URL unusable (RFC 9111 section 4.4), and a purge finds them by it. Default: true with `ttl: 'origin'`, else false. */
  readonly invalidateOnUnsafe?: boolean | undefined
  /** Whether answers carry `Cache-Status` (RFC 9211), and under which name; true: `cattlegrid`. It tells clients what is cached. Default: false. */
  readonly cacheStatus?: boolean | string | undefined
  /** Whether answers from the cache say so in `Server-Timing`, with the time that their client waited. Default: false. */
  readonly serverTiming?: boolean | undefined
  /** Fastify only. `onRequest`: what is fresh is served before the route's own authentication and validation, to everybody. Default: `'preHandler'`, after them. */
  readonly phase?: 'preHandler' | 'onRequest' | undefined
  /** Answers in the place of a 503 or 504 of ours while no handler has run: returns true when it has answered, or will. Default: the framework's error handling. */
  readonly onError?: ((error: ServeError, req: Req, res: Res) => boolean) | undefined
}

/** Options of a purge endpoint. */
export interface PurgeOptions<Req = unknown> {
  /** Who may purge: whoever it answers true for, also by a promise. Default: nobody, the endpoint answers 404. */
  readonly authorize?: ((req: Req) => boolean | Promise<boolean>) | undefined
}
