import type { ByteSize, Duration, LoadOptions } from '@cattlegrid/core'
import type { ServeError } from '../response/errors.ts'

/**
 * The freshness lifetime of a route's responses: a duration; `'origin'`: the one that each response declares;
 * or a function that decides for each.
 */
export type RouteTtl<Req, Res> = Duration | 'origin' | ((req: Req, res: Res) => Duration | undefined)

/** The parts of a route's key beside the URL. */
export interface KeyOptions<Req = unknown> {
  /** Request fields whose values are part of the key, as they come. Default: none. */
  readonly headers?: readonly string[] | undefined
  /** Cookies whose values are part of the key. Default: none. */
  readonly cookies?: readonly string[] | undefined
  /**
   * A name: the host in the key of every request, and the host that the handler sees, for an app that several
   * ports or names reach. Name those in `hosts`: a request with another host gets what is stored, and its
   * handler's response is its own. `false`: the key has no host. The handler then sees the host of the client
   * whose request it runs for: for handlers that do not use it, as any client can choose it, and the others
   * get that response. Default: the host of the request.
   */
  readonly host?: string | false | undefined
  /**
   * Anything else that distinguishes two responses of one URL, such as a tenant; a request for which it
   * throws, or returns no string, bypasses the cache. Default: nothing.
   */
  readonly extra?: ((req: Req) => string) | undefined
}

/** Query parameters that do not select the resource. */
export interface QueryOptions {
  /** Names that are neither in the key nor seen by the handler. Default: none. */
  readonly ignore?: readonly string[] | undefined
}

/** How often a route is audited, and what follows from a difference. */
export interface AuditOptions {
  /** The part of the requests that is audited, from 0 to 1. Each runs the handler twice. Default: 0.001. */
  readonly rate?: number | undefined
  /**
   * `stop`: responses of the route are not cached any more until the process starts again, and what is stored
   * of it is purged in all processes. `warn`: a warning, an event and a metric tell of it. Default: `'stop'`.
   */
  readonly onMismatch?: 'stop' | 'warn' | undefined
}

/**
 * Options of one cached route, and of the whole app. An option that is not given comes from the adapter's
 * defaults, then from the cache.
 */
export interface RouteOptions<Req = unknown, Res = unknown> extends Omit<LoadOptions, 'ttl' | 'isFailure'> {
  /** Switches the cache on or off, for every request or for this one. Default: true. */
  readonly enabled?: boolean | ((req: Req) => boolean) | undefined
  /**
   * `observe`: every request runs its own handler; `Cache-Status` and `cattlegrid:observe` of
   * `node:diagnostics_channel` report what the cache would have done. Default: `'serve'`.
   */
  readonly mode?: 'serve' | 'observe' | undefined
  /**
   * Requests that bypass the cache, neither served nor stored nor joined; so does one for which it throws.
   * Default: none.
   */
  readonly skip?: ((req: Req) => boolean) | undefined
  /** What distinguishes responses of one URL. Default: nothing. */
  readonly key?: KeyOptions<Req> | undefined
  /**
   * The query parameters in the key: a list of names, all (`true`), none (`false`), or all but `ignore`. The
   * handler sees these, and no others. Listed parameters are sorted. Default: true.
   */
  readonly query?: boolean | readonly string[] | QueryOptions | undefined
  /** The hosts that are cached; requests to others bypass the cache. Default: every host. */
  readonly hosts?: readonly string[] | undefined
  /**
   * `'bypass'`: a request with any cookie bypasses the cache. `'ignore'`: cookies do not matter. Only
   * `key.cookies` puts cookies in the key. Default: `'ignore'`.
   */
  readonly cookies?: 'ignore' | 'bypass' | undefined
  /**
   * A request with `Authorization` bypasses the cache, or has entries of its own. Default: `'bypass'`; with
   * `ttl: 'origin'`, responses with `public`, `s-maxage` or `must-revalidate` are stored for all requests
   * with credentials.
   */
  readonly authorization?: 'bypass' | 'key' | undefined
  /** Ignores credentials: a client may get the response to any other client. Default: false. */
  readonly unsafeShareAuthorized?: boolean | undefined
  /** Stores a response with `Set-Cookie` without that field, and serves it so. Default: false. */
  readonly unsafeStripSetCookie?: boolean | undefined
  /**
   * Names in `Vary` for which variants are stored although nearly every client has a value of its own.
   * Default: none.
   */
  readonly unsafeVaryOn?: readonly string[] | undefined
  /**
   * Names in `Vary`, whichever layer sets it, that make no variants: a client may get the response to another
   * value of the field. Default: none.
   */
  readonly ignoreVary?: readonly string[] | undefined
  /**
   * Personal reads that do not keep a response from being stored, because it is the same for every client:
   * `user`, `account`, `auth`, `oidc`, `session`, `sessionID`, `cookies`, `signedCookies`; with a `ttl` also
   * the fields `cookie` and `authorization`. Any other of these reads makes the response its own client's.
   * Cookies in `key.cookies` never count. Default: none.
   */
  readonly allowReads?: readonly string[] | undefined
  /**
   * Removes request fields that many handlers trust and no key holds, such as `X-Forwarded-Host`, from a
   * leader's request. Default: true.
   */
  readonly scrub?: boolean | undefined
  /** Response fields that are not stored. Default: none. */
  readonly strip?: readonly string[] | undefined
  /**
   * How long a response is fresh, whatever lifetime it declares; its prohibitions, such as `private`, still
   * hold. `Infinity`: until it is invalidated. A function is called when the head of a response is known;
   * less than 1 ms, NaN or undefined: not stored. Default: `'origin'`, only responses with `s-maxage`,
   * `max-age` or `Expires` are stored.
   */
  readonly ttl?: RouteTtl<Req, Res> | undefined
  /**
   * How long after `ttl` an entry is served at once, while it is refreshed in the background. With `'origin'`
   * the response's own window comes first. Default: the cache's.
   */
  readonly staleWhileRevalidate?: Duration | undefined
  /**
   * How long after `ttl` an entry is served when the handler fails or is slow. With `'origin'` the response's
   * own window comes first. Default: the cache's.
   */
  readonly staleIfError?: Duration | undefined
  /**
   * Responses 404 and 410 are fresh for this, at most for `ttl`; `false`: not stored. Unused with `'origin'`.
   * Default: `'5s'`.
   */
  readonly negativeTtl?: Duration | false | undefined
  /**
   * Fields that count before `Cache-Control` for this cache (RFC 9213), such as `'CDN-Cache-Control'`; the
   * first that can be read wins. Default: none.
   */
  readonly targets?: readonly string[] | undefined
  /**
   * Tags by which `invalidateTags` finds the responses: at most 98, of 1 to 256 characters each; a function
   * is called when the head of a response is known. Default: none.
   */
  readonly tags?: readonly string[] | ((req: Req, res: Res) => readonly string[]) | undefined
  /**
   * A response field with more tags, separated by blanks or commas, such as `'Surrogate-Key'`.
   * Default: false.
   */
  readonly tagHeader?: string | false | undefined
  /** A response with a longer body is sent to its client, and not stored. Default: `'1mb'`. */
  readonly maxBodyBytes?: ByteSize | undefined
  /**
   * Bytes of all bodies that the process records at one time, over all routes; a response that would exceed
   * them is sent to its client, and not stored. Default: `'64mb'`.
   */
  readonly maxCaptureBytes?: ByteSize | undefined
  /** Variants of one URL that a process keeps; one more evicts the oldest. Default: 16. */
  readonly maxVariants?: number | undefined
  /**
   * The most loads of the route at once in this process; one more waits within `waitTimeout`, and one more in
   * the background does not begin. A load ends once it is certain that its response is not stored. Default:
   * no limit.
   */
  readonly maxLoads?: number | undefined
  /** Answers a range request for a stored response with a 206. Default: false, it gets the whole response. */
  readonly range?: boolean | undefined
  /**
   * Gives a handler that replaces an expired response its validators, so that it may answer 304: for handlers
   * that forward to another server. Windows that the route does not name are 0 then. Default: false.
   */
  readonly revalidate?: boolean | undefined
  /**
   * Requests whose `Cache-Control` is obeyed (`no-cache`, `no-store`, `max-age`, `only-if-cached`): each can
   * make the handler run. Default: none.
   */
  readonly clientDirectives?: ((req: Req) => boolean) | false | undefined
  /**
   * Stored responses without a `Cache-Control` of their own get this `max-age`, in whole seconds. Default:
   * the library adds none.
   */
  readonly clientMaxAge?: Duration | undefined
  /**
   * `age`: responses keep their `Date` and have an `Age`. `reset`: each looks as if it were made now.
   * Default: `'age'`.
   */
  readonly downstream?: 'age' | 'reset' | undefined
  /**
   * How a stale response is refreshed: `'behind'` by a subrequest, `'inline'` by the next client's own
   * request. Use `'inline'` for routes behind authentication. Default: `'behind'`; for a Fastify route with a
   * constraint of the app's own `'inline'`.
   */
  readonly refresh?: 'behind' | 'inline' | undefined
  /**
   * Request fields of the client that a subrequest carries, beside those in the key and in `Vary`.
   * Default: none.
   */
  readonly refreshHeaders?: readonly string[] | undefined
  /**
   * Lets a successful POST, PUT, PATCH or DELETE invalidate all stored responses of its URL (RFC 9111 section
   * 4.4), and a purge find them by it. Default: true with `ttl: 'origin'`, else false.
   */
  readonly invalidateOnUnsafe?: boolean | undefined
  /**
   * Adds `Cache-Status` (RFC 9211) to responses, under this name; true: `cattlegrid`. The field shows clients
   * what is cached. Default: false.
   */
  readonly cacheStatus?: boolean | string | undefined
  /**
   * Adds the parameter `key` to `Cache-Status`: the key that the request looked up, for `cattlegrid inspect`.
   * It is a digest of everything in the key. Default: false.
   */
  readonly cacheStatusKey?: boolean | undefined
  /**
   * Adds to `Server-Timing` what the cache did, as in `X-Cache` (`cache;desc=hit`), and in ms how long the
   * client waited (`wait`) and its handler took up to the head (`load`). Default: false.
   */
  readonly serverTiming?: boolean | undefined
  /**
   * Adds `X-Cache`, for tools that do not read `Cache-Status`: `HIT`, `STALE`, `MISS` (also a request that
   * waited for another one's response) or `BYPASS`. Default: false.
   */
  readonly xCache?: boolean | undefined
  /**
   * Puts the request-target, query included, into the events of `cattlegrid:http`. It may hold secrets, and
   * it has no bound. Default: false.
   */
  readonly eventUrl?: boolean | undefined
  /**
   * Compares the response of a sampled request's own handler with that to an anonymous request of the same
   * key. `false`: never. Default: none; with `NODE_ENV=development` the first three loads of each route, with
   * `onMismatch: 'stop'`.
   */
  readonly audit?: AuditOptions | false | undefined
  /**
   * Fastify only. `onRequest`: fresh responses are served before the route's own authentication and
   * validation, to every client. Default: `'preHandler'`, after them.
   */
  readonly phase?: 'preHandler' | 'onRequest' | undefined
  /**
   * Answers in the place of cattlegrid's 503 or 504 where no handler has run; returns true when it has
   * answered, or will. Default: the framework's error handling.
   */
  readonly onError?: ((error: ServeError, req: Req, res: Res) => boolean) | undefined
}

/** Options of a purge endpoint. */
export interface PurgeOptions<Req = unknown> {
  /**
   * Returns, or resolves to, whether this request may purge. Default: no request may, and the endpoint
   * answers 404.
   */
  readonly authorize?: ((req: Req) => boolean | Promise<boolean>) | undefined
}
