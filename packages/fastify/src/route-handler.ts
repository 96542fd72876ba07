import { type Route, serve, serveStored } from '@cattlegrid/http'
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler, RouteOptions } from 'fastify'
import { FastifyExchange, type RoutePlace } from './exchange.ts'
import { addFirstOnSend, knownAppOf } from './known-apps.ts'

type CachedRoute = Route<FastifyRequest, FastifyReply>

/** Puts the cache into routes. The exchange of a request is a property of its reply: for a hit that costs less than a map of all replies. */
export class RouteHandlers {
  readonly #slot = Symbol('cattlegrid.exchange')
  /** The handlers of the routes installed so far, each with its URLs. */
  readonly #urlsOf = new WeakMap<object, Set<string>>()

  readonly #known: ReturnType<typeof knownAppOf>
  readonly #foldsPaths: boolean

  constructor(app: FastifyInstance) {
    this.#known = knownAppOf(app)
    this.#foldsPaths = foldsPaths(app)
    app.decorateReply(this.#slot, undefined)
    addFirstOnSend(app, (reply, payload, done) => {
      const exchange = slotsOf(reply)[this.#slot]
      if (exchange === undefined) done(null, payload)
      else exchange.onSend(payload, done)
    })
  }

  /** True for a `HEAD` route that the app declares itself: it may answer differently from the `GET` route of its URL. */
  isOwnHeadRoute({ method, handler, url }: RouteOptions): boolean {
    return [method].flat().every((name) => name === 'HEAD') && this.#urlsOf.get(handler)?.has(url) !== true
  }

  /**
   * Replaces the handler. A `preHandler` would not do: a plugin that is registered later may append one of its own to the route, such as the
   * authentication.
   */
  install(declared: RouteOptions, route: CachedRoute): void {
    const slot = this.#slot
    const { handler, constraints } = declared
    this.#urlsOf.set(handler, (this.#urlsOf.get(handler) ?? new Set()).add(declared.url))
    const known = this.#known
    // Later `onRoute` hooks may add one to the route.
    const hasOnSend = (): boolean => known?.hasOnSend !== false || declared.onSend !== undefined
    const pattern = this.#foldsPaths ? declared.url : undefined
    const place = { name: placeName(constraints), version: constraints?.version, pattern, hasOnSend }
    if (route.phase === 'onRequest')
      declared.onRequest = [this.#serveOnRequest(place, route), declared.onRequest ?? []].flat()
    declared.handler = function cattlegrid(request, reply) {
      const exchange = new FastifyExchange(request, reply, place, () => handler.call(this, request, reply))
      slotsOf(reply)[slot] = exchange
      serve(exchange, route)
      return exchange.returned
    }
  }

  /** Sends fresh entries before authentication and validation, for a route with `phase: 'onRequest'`. */
  #serveOnRequest(place: RoutePlace, route: CachedRoute): onRequestHookHandler {
    return (request, reply, next) => {
      const exchange = new FastifyExchange(request, reply, place, () => undefined)
      slotsOf(reply)[this.#slot] = exchange
      serveStored(exchange, route, () => {
        slotsOf(reply)[this.#slot] = undefined
        next()
      })
    }
  }
}

/** True if the app takes paths for one that differ in case or in a trailing slash. */
function foldsPaths({ initialConfig }: FastifyInstance): boolean {
  const { routerOptions = {} } = initialConfig
  return [initialConfig, routerOptions].some(
    ({ caseSensitive, ignoreTrailingSlash }: PathOptions) => caseSensitive === false || ignoreTrailingSlash === true,
  )
}

interface PathOptions {
  readonly caseSensitive?: boolean | undefined
  readonly ignoreTrailingSlash?: boolean | undefined
}

/** Fastify's types do not know decorators whose name is a symbol. */
function slotsOf(reply: object): Record<symbol, FastifyExchange | undefined> {
  return reply as Record<symbol, FastifyExchange | undefined>
}

/** Routes of one URL differ in their constraints: a version, a host. */
function placeName(constraints: RouteOptions['constraints']): string {
  if (constraints === undefined || Object.keys(constraints).length === 0) return ''
  return JSON.stringify(constraints, (_, value: unknown) => (value instanceof RegExp ? String(value) : value))
}
