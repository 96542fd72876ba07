import type { Cache } from '@cattlegrid/core'
import { compileRoute, httpCache, nextDeclaration, type PassedError, type RouteOptions, serve } from '@cattlegrid/http'
import type { SendSubrequest } from '@cattlegrid/http/binding'
import type { Context, Env, Hono, MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import type { FetchReads } from './client-reads.ts'
import { answerOf } from './error-response.ts'
import { FetchExchange } from './fetch-exchange.ts'
import { fieldsOf } from './fields.ts'
import { noSubrequests, subrequestsBy, withoutSubrequests } from './subrequests.ts'

/** The options of a route: functions among them get Hono's context, as request and as response. */
export type HonoRouteOptions<E extends Env = Env> = Omit<RouteOptions<Context<E>, Context<E>>, 'phase' | 'onError'>

/** The options of `honoCache`. */
export interface HonoCacheOptions<E extends Env = Env> extends HonoRouteOptions<E> {
  /**
   * Returns the outermost app: what refreshes a response behind a stale one goes through it. Default: the
   * request that finds a stale response refreshes it, and waits for that (`refresh: 'inline'`).
   */
  readonly app?: (() => Pick<Hono<E>, 'fetch'>) | undefined
}

/** Makes a middleware for an app or a route. A `ttl` given here counts wherever it stands. */
export type HonoCached<E extends Env = Env> = (options?: HonoRouteOptions<E>) => MiddlewareHandler<E>

/** Variables in which middleware tells handlers about their client, beside those of every framework. */
const JWT_PAYLOAD = 'jwtPayload'

/** The number of cached places that a request has passed. */
const depths = new WeakMap<Context, number>()

/**
 * Puts a cache before Hono handlers: `const cached = honoCache(cache, { app: () => app })`, then
 * `app.use(cached())` or `app.get(path, cached({ ttl }), handler)`.
 *
 * @param defaults options of every `cached()` that does not give its own; the `ttl` counts only for those
 * that stand on a route, not in `app.use`.
 *
 * @example
 * import { createCache } from '@cattlegrid/core'
 * import { honoCache } from '@cattlegrid/web/hono'
 * import { Hono } from 'hono'
 *
 * const app = new Hono()
 * const cached = honoCache(createCache(), { app: () => app })
 * app.get('/products', cached({ ttl: '30s' }), (c) => c.json([]))
 * @throws InvalidOptionError for an option that is unknown or has a value it cannot have.
 */
export function honoCache<E extends Env = Env>(cache: Cache, defaults: HonoCacheOptions<E> = {}): HonoCached<E> {
  const { app, ...shared } = defaults
  const http = httpCache(cache)
  const checked = (options: HonoRouteOptions<E>): HonoRouteOptions<E> =>
    app === undefined ? withoutSubrequests('cached', options, 'only beside app: () => app') : options
  const outer = checked(shared)
  const compile = (ofAdapter: HonoRouteOptions<E>, own: HonoRouteOptions<E>) =>
    compileRoute<Context<E>, Context<E>>('cached', http, ofAdapter, own)
  compile(outer, {})
  return (options = {}) => {
    const own = checked(options)
    const route = compile(outer, own)
    // A default `ttl` would store the pages of a whole app, whatever they say themselves.
    const appRoute =
      own.ttl === undefined && outer.ttl !== undefined ? compile({ ...outer, ttl: undefined }, own) : route
    const declaration = nextDeclaration(http)
    return async (c, next) => {
      const depth = depths.get(c) ?? 0
      const pattern = routePath(c)
      const written = new Set<string>()
      const exchange = new FetchExchange<Request, Context<E>, Context<E>>(c.req.raw, {
        objects: { request: c, response: c },
        name: depth === 0 ? String(declaration) : `@${depth} ${declaration}`,
        pattern,
        before: fieldsOf(c.body(null).headers),
        written,
        run: (request, reads) => runInside({ c, next, depth, written }, request, reads),
        passedError: () => (c.error === undefined ? undefined : { error: c.error }),
        answerError: async (error) => {
          throw answering(error)
        },
        subrequests: subrequestsOf(c, app),
      })
      serve(exchange, isForAll(pattern) ? appRoute : route)
      const response = await exchange.result
      // Hono would join its fields with those of the response that it has.
      c.res = undefined
      c.res = response
    }
  }
}

function isForAll(pattern: string): boolean {
  return pattern.endsWith('*')
}

/** The layers inside of a cached place. */
interface Inside<E extends Env> {
  readonly c: Context<E>
  readonly next: () => Promise<void>
  readonly depth: number
  /** Gets the names of the fields that they set. */
  readonly written: Set<string>
}

async function runInside<E extends Env>(
  { c, next, depth, written }: Inside<E>,
  request: Request,
  reads: FetchReads | undefined,
): Promise<Response> {
  const { raw } = c.req
  depths.set(c, depth + 1)
  c.req.raw = request
  const stopNoting = noteWritten(c, written)
  const stop = reads === undefined ? undefined : watchVariables(c, reads)
  const restore = (): void => {
    stop?.()
    if (c.req.raw === request) c.req.raw = raw
  }
  try {
    await next()
    return c.res
  } finally {
    stopNoting()
    depths.set(c, depth)
    // The code behind a stream reads on when the handler has returned.
    if (reads === undefined) restore()
    else reads.onStop(restore)
  }
}

/** Notices which fields are set by the methods of the context, also those that a layer outside has set. */
function noteWritten<E extends Env>(c: Context<E>, written: Set<string>): () => void {
  const { header } = c
  const noting: typeof header = (name, value, options) => {
    written.add(name.toLowerCase())
    return header(name, value as string, options)
  }
  c.header = noting
  return () => {
    c.header = header
  }
}

/** Notices reads of the variables by which layers outside tell who the client is. */
function watchVariables<E extends Env>(c: Context<E>, reads: FetchReads): () => void {
  const names = [...reads.properties, JWT_PAYLOAD]
  const { get } = c
  const watched = (name: string): unknown => {
    const value: unknown = Reflect.apply(get, c, [name])
    if (names.includes(name) && value !== undefined) reads.note(name, `c.get('${name}')`, watched)
    return value
  }
  const outer = Object.getOwnPropertyDescriptor(c, 'var')
  const variables = (): object => {
    const of = Object.getPrototypeOf(c) as object
    const all = (outer === undefined ? Reflect.get(of, 'var', c) : outer.get?.call(c)) as object
    for (const name of names) watchVariable(all, name, reads)
    return all
  }
  Object.defineProperty(c, 'get', { configurable: true, writable: true, value: watched })
  Object.defineProperty(c, 'var', { configurable: true, get: variables })
  return () => {
    // A place inside may watch still.
    if (c.get !== watched) return
    Object.defineProperty(c, 'get', { configurable: true, writable: true, value: get })
    Reflect.deleteProperty(c, 'var')
    if (outer !== undefined) Object.defineProperty(c, 'var', outer)
  }
}

function watchVariable(all: object, name: string, reads: FetchReads): void {
  const variable = Object.getOwnPropertyDescriptor(all, name)
  if (variable === undefined) return
  const read = (): unknown => {
    reads.note(name, `c.var.${name}`, read)
    return variable.get === undefined ? variable.value : variable.get()
  }
  Object.defineProperty(all, name, { configurable: true, enumerable: true, get: read })
}

/** Hono's own error handling sends the response of such an error. */
function answering(error: PassedError): PassedError {
  return Object.assign(error, { getResponse: () => answerOf(error) })
}

function subrequestsOf<E extends Env>(c: Context<E>, app: HonoCacheOptions<E>['app']): SendSubrequest {
  if (app === undefined) return noSubrequests
  const context = executionOf(c)
  const send = async (request: Request): Promise<Response> => await app().fetch(request, c.env, context)
  return subrequestsBy(send, context === undefined ? undefined : (work) => context.waitUntil(work))
}

/** Hosts such as Node have none, and Hono then throws. */
function executionOf(c: Context): Context['executionCtx'] | undefined {
  try {
    return c.executionCtx
  } catch {
    return undefined
  }
}
