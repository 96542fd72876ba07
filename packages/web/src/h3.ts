import type { Cache } from '@cattlegrid/core'
import { compileRoute, httpCache, type PassedError, type RouteOptions, serve } from '@cattlegrid/http'
import type { SendSubrequest } from '@cattlegrid/http/binding'
import { type EventHandler, H3Event, type H3EventContext, HTTPError, toResponse } from 'h3'
import type { FetchReads } from './client-reads.ts'
import { answerOf } from './error-response.ts'
import { FetchExchange } from './fetch-exchange.ts'
import { fieldsOf } from './fields.ts'
import { subrequestsBy } from './subrequests.ts'

/** The options of a cached event handler: functions among them get the event, as request and as response. */
export interface CachedEventHandlerOptions extends Omit<RouteOptions<H3Event, H3Event>, 'phase' | 'onError'> {
  readonly cache: Cache
  /**
   * Part of the key: two cached handlers that may answer one URL need two names. The same in every process.
   * Default: ''.
   */
  readonly name?: string | undefined
}

/** By these in the context, too, h3 and its helpers tell who the client is. */
const PERSONAL_CONTEXT = ['basicAuth', 'sessions', 'clientAddress']

/**
 * Puts a cache before an event handler of h3 2 or Nitro 3. The handler gets an event whose request is what
 * its key holds; a response for which it reads cookies, credentials or who the client is from
 * `event.context` is its own client's. What it returns is stored as h3 sends it.
 *
 * @example
 * import { createCache } from '@cattlegrid/core'
 * import { cachedEventHandler } from '@cattlegrid/web/h3'
 * import { H3 } from 'h3'
 *
 * const cache = createCache()
 * const app = new H3()
 * app.get('/products', cachedEventHandler(() => ({ products: [] }), { cache, ttl: '30s' }))
 * @throws InvalidOptionError for an option that is unknown or has a value it cannot have.
 */
export function cachedEventHandler(handler: EventHandler, options: CachedEventHandlerOptions): EventHandler {
  const { cache, name = '', ...routeOptions } = options
  const route = compileRoute<H3Event, H3Event>('cachedEventHandler', httpCache(cache), undefined, routeOptions)
  const cached = async (event: H3Event): Promise<Response> => {
    const outer = event.res.headers
    const written = new Set<string>()
    let passed: { readonly error: unknown } | undefined
    const exchange = new FetchExchange<H3Event['req'], H3Event, H3Event>(event.req, {
      objects: { request: event, response: event },
      name,
      pattern: event.context.matchedRoute?.route,
      before: fieldsOf(outer),
      written,
      run: async (request, reads) =>
        await respond(handler, eventOf(event, request, reads, written), (error) => (passed = { error })),
      passedError: () => passed,
      answerError: async (error) => {
        throw httpError(error)
      },
      subrequests: subrequestsOf(event, cached),
    })
    serve(exchange, route)
    const response = await exchange.result
    // The response has them: h3 would add them once more.
    for (const field of Object.keys(fieldsOf(outer))) outer.delete(field)
    return response
  }
  return cached
}

/**
 * What the handler gets: the request of its key, the context of the client's event, and the fields that
 * layers outside have set. `written` gets the names of those that the handler sets.
 */
function eventOf(
  event: H3Event,
  request: H3Event['req'],
  reads: FetchReads | undefined,
  written: Set<string>,
): H3Event {
  if (request === event.req) return event
  const context = reads === undefined ? event.context : watchedContext(event.context, reads)
  if (reads !== undefined) watchRuntime(request, reads)
  const own = new H3Event(request, context, event.app)
  const { status, statusText, headers: outer } = event.res
  Object.assign(own.res, { status, statusText })
  const { headers } = own.res
  for (const [field, value] of outer) headers.append(field, value)
  for (const method of ['set', 'append', 'delete'] as const) {
    const change = (field: string, value: string): void => {
      written.add(field.toLowerCase())
      Headers.prototype[method].call(headers, field, value)
    }
    Object.defineProperty(headers, method, { configurable: true, writable: true, value: change })
  }
  return own
}

/** What h3 makes of what the handler returns or throws. `onError` gets an error that h3 answers. */
async function respond(handler: EventHandler, event: H3Event, onError: (error: unknown) => void): Promise<Response> {
  const run = async (): Promise<unknown> => {
    try {
      const result: unknown = await handler(event)
      if (result instanceof Error) onError(result)
      return result
    } catch (error) {
      onError(error)
      throw error
    }
  }
  // The response of the cache passes `onResponse`.
  const { onResponse: _onResponse, ...config } = event.app?.config ?? {}
  return await toResponse(run(), event, config)
}

/** Notices reads of what layers outside have put into the context to tell who the client is. */
function watchedContext(context: H3EventContext, reads: FetchReads): H3EventContext {
  const names: readonly unknown[] = [...reads.properties, ...PERSONAL_CONTEXT]
  const get = (target: H3EventContext, name: string | symbol): unknown => {
    const value: unknown = Reflect.get(target, name)
    if (names.includes(name) && value !== undefined) reads.note(String(name), `event.context.${String(name)}`, get)
    return value
  }
  return new Proxy(context, { get })
}

/** The server's own objects, such as the request of Node, hold the fields of the client. */
function watchRuntime(request: H3Event['req'], reads: FetchReads): void {
  const { runtime } = request
  const get = (): typeof runtime => {
    if (runtime !== undefined) reads.note('runtime', 'event.runtime', get)
    return runtime
  }
  Object.defineProperty(request, 'runtime', { configurable: true, get })
}

/** The app's own error handling sends the response of such an error. */
function httpError(error: PassedError): HTTPError {
  const { message, statusCode: status } = error
  return new HTTPError({ status, message, cause: error, headers: Object.fromEntries(answerOf(error).headers) })
}

/** Through the whole app, or where the event has none, to the handler itself. */
function subrequestsOf(event: H3Event, cached: (event: H3Event) => Promise<Response>): SendSubrequest {
  const { app } = event
  const send = async (request: Request): Promise<Response> =>
    app === undefined ? await cached(new H3Event(request)) : await app.fetch(request)
  return subrequestsBy(send, (work) => event.waitUntil(work))
}
