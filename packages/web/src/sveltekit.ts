import { type Cache, InvalidOptionError } from '@cattlegrid/core'
import { compileRoute, httpCache, nextDeclaration, type QueryOptions, type RouteOptions, serve } from '@cattlegrid/http'
import { FetchReads } from './client-reads.ts'
import { answerOf } from './error-response.ts'
import { FetchExchange } from './fetch-exchange.ts'
import { recordable, sendable } from './sveltekit-data.ts'
import type { SvelteKitEvent } from './sveltekit-event.ts'
import { watchSent } from './sveltekit-fetch.ts'
import { noSubrequests, withoutSubrequests } from './subrequests.ts'
import { DATA_PARAMETERS, shownEvent, watchEvent } from './sveltekit-reads.ts'
import { hasSetCookie, type PageOptions, WatchedLayers } from './sveltekit-layers.ts'

export type { SvelteKitCookies, SvelteKitEvent } from './sveltekit-event.ts'
export type { PageOptions } from './sveltekit-layers.ts'

/** The options of a route: functions among them get the event of the request, and the response. */
export type SvelteKitRouteOptions<E extends SvelteKitEvent = SvelteKitEvent> = Omit<
  RouteOptions<E, Response>,
  'phase' | 'onError' | 'audit' | 'refresh' | 'refreshHeaders'
>

/** The options of `cachedHandle`. */
export interface CachedHandleOptions<E extends SvelteKitEvent = SvelteKitEvent> extends SvelteKitRouteOptions<E> {
  readonly cache: Cache
  /**
   * The options of single routes, by their ids, as in `event.route.id`: `/products/[id]`. What one does not
   * give comes from the options beside. Default: none. Every other route stores only responses that declare
   * their lifetime.
   */
  readonly routes?: Readonly<Record<string, SvelteKitRouteOptions<E>>> | undefined
}

/** A `Handle` of SvelteKit. */
export type CachedHandle<E extends SvelteKitEvent = SvelteKitEvent> = <Event extends E>(
  input: Input<Event>,
) => Promise<Response>

interface Input<Event> {
  readonly event: Event
  readonly resolve: (event: Event, options?: PageOptions) => Response | Promise<Response>
}

const NO_REQUESTS = 'none: the cache cannot ask SvelteKit for a page'

const NOTHING: ReadonlySet<string> = new Set()

/**
 * Puts a cache before the routes of a SvelteKit app: a hook for `src/hooks.server.ts`, alone or in
 * `sequence`. It stores responses that declare their lifetime, and those of the `routes` that have a `ttl`. A
 * request that finds a stale response refreshes it.
 *
 * @example
 * import { createCache } from '@cattlegrid/core'
 * import { cachedHandle } from '@cattlegrid/web/sveltekit'
 *
 * export const handle = cachedHandle({ cache: createCache(), routes: { '/products/[id]': { ttl: '30s' } } })
 * @throws InvalidOptionError for an option that is unknown or has a value it cannot have, and for a `ttl`
 * without `routes`.
 */
export function cachedHandle<E extends SvelteKitEvent = SvelteKitEvent>(
  options: CachedHandleOptions<E>,
): CachedHandle<E> {
  const { cache, routes = {}, ...shared } = options
  if (shared.ttl !== undefined && options.routes === undefined)
    throw new InvalidOptionError('cachedHandle: ttl', shared.ttl, 'a ttl of routes: { [id]: { ttl } }')
  const http = httpCache(cache)
  const compile = (own: SvelteKitRouteOptions<E>) =>
    compileRoute<E, Response>(
      'cachedHandle',
      http,
      undefined,
      withoutSubrequests('cachedHandle', withDataParameters(own), NO_REQUESTS),
    )
  // A `ttl` for all would store the pages of a whole app, whatever they say themselves.
  const others = compile({ ...shared, ttl: undefined })
  const compiled = new Map(Object.entries(routes).map(([id, own]) => [id, compile({ ...shared, ...own })]))
  const declaration = nextDeclaration(http)
  return async <Event extends E>(input: Input<Event>) => {
    const { event, resolve } = input
    if (isPassed(event)) return await resolve(event)
    const { id } = event.route
    const place = new KitPlace(input)
    const exchange = new FetchExchange<Request, E>(event.request, {
      objects: { request: event },
      name: `${declaration}${event.isSubRequest ? '.sub' : ''} ${id ?? ''}`,
      pattern: id !== null && compiled.has(id) ? id : undefined,
      before: {},
      written: NOTHING,
      run: (request, reads) => place.run(request, reads),
      passedError: () => undefined,
      answerError: async (error) => answerOf(error),
      subrequests: noSubrequests,
    })
    serve(exchange, compiled.get(id ?? '') ?? others)
    return place.answer(await exchange.result)
  }
}

/** The handler sees the parameters by which SvelteKit selects what a `__data.json` holds: so must the key. */
function withDataParameters<O extends { readonly query?: boolean | readonly string[] | QueryOptions | undefined }>(
  options: O,
): O {
  const { query } = options
  if (query === undefined || query === true) return options
  if (query === false) return { ...options, query: DATA_PARAMETERS }
  if (!('ignore' in query)) return { ...options, query: [...(query as readonly string[]), ...DATA_PARAMETERS] }
  return { ...options, query: { ignore: query.ignore?.filter((name) => !DATA_PARAMETERS.includes(name)) } }
}

/** True for what is not a client's request for a page or an endpoint, and where SvelteKit must do more. */
function isPassed(event: SvelteKitEvent): boolean {
  // Fields by which SvelteKit's own code asks for another response than the URL says.
  const isDirected = Object.keys(FetchReads.fieldsOf(event.request)).some((name) => name.startsWith('x-sveltekit-'))
  return isDirected || event.isRemoteRequest === true || isPrerendering(event) || hasSetCookie(event)
}

/** The build notes what each page fetches, and writes the responses. */
function isPrerendering({ url }: SvelteKitEvent): boolean {
  return process.env['SVELTEKIT_FORK'] !== undefined || url.hostname === 'sveltekit-prerender'
}

/** What lies behind the cache for one request. */
class KitPlace<Event extends SvelteKitEvent> {
  readonly #input: Input<Event>
  /** The reads of the response for which code behind the cache has sent this request. */
  readonly #sender: FetchReads | undefined
  #thrown: { readonly error: unknown } | undefined

  constructor(input: Input<Event>) {
    this.#input = input
    this.#sender = watchSent(input.event.request)
  }

  async run(request: Request, reads: FetchReads | undefined): Promise<Response> {
    const { event, resolve } = this.#input
    if (reads === undefined) {
      this.#sender?.note('cookies', 'event.fetch', watchSent)
      return await resolve(request === event.request ? event : { ...event, request })
    }
    const stop = watchEvent(event, reads)
    // The code behind a stream reads on when the handler has returned.
    reads.onStop(stop)
    const layers = new WatchedLayers(event)
    try {
      const shown = { ...shownEvent(event, request, reads), setHeaders: layers.setHeaders }
      const response = await layers.check(await resolve(shown, layers.options), request)
      return await recordable(event, response, layers.hasSet('cache-control'))
    } catch (error) {
      if (!isAnswer(error)) throw error
      this.#thrown = { error }
      return new Response(null, { headers: { 'cache-control': 'private, no-store' } })
    }
  }

  /** The response for the client; throws what a hook behind the cache has thrown. */
  answer(response: Response): Response {
    if (this.#thrown !== undefined) throw this.#thrown.error
    return sendable(this.#input.event, response)
  }
}

/** True for a `redirect` or an `error` by which a hook answers its own client: that is no failure. */
function isAnswer(error: unknown): boolean {
  const { status } = (error ?? {}) as { readonly status?: unknown }
  return typeof status === 'number' && status >= 300 && status < 500
}
