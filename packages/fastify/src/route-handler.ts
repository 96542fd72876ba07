import { type Route, serve, serveStored } from '@cattlegrid/http'
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler, RouteOptions } from 'fastify'
import { FastifyExchange } from './exchange.ts'
import { ExchangeSlots } from './exchange-slots.ts'
import { knownAppOf, mayHaveOnSend } from './known-apps.ts'
import { foldsPaths, type RoutePlace } from './route-place.ts'

type CachedRoute = Route<FastifyRequest, FastifyReply>

/** Puts the cache into routes. */
export class RouteHandlers {
  readonly #slots: ExchangeSlots
  /** The handlers of the routes installed so far, each with its URLs. */
  readonly #urlsOf = new WeakMap<object, Set<string>>()

  readonly #known: ReturnType<typeof knownAppOf>
  readonly #foldsPaths: boolean

  constructor(app: FastifyInstance) {
    this.#known = knownAppOf(app)
    this.#foldsPaths = foldsPaths(app)
    this.#slots = new ExchangeSlots(app)
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
    const slots = this.#slots
    const { handler, constraints } = declared
    this.#urlsOf.set(handler, (this.#urlsOf.get(handler) ?? new Set()).add(declared.url))
    const known = this.#known
    // Later `onRoute` hooks may add one to the route.
    const hasOnSend = (): boolean => mayHaveOnSend(known) || declared.onSend !== undefined
    const folded = this.#foldsPaths ? declared.url : undefined
    const version = constraints?.version
    const routingFields = version === undefined ? undefined : { 'accept-version': version }
    const place = { name: placeName(constraints), routingFields, folded, hasOnSend }
    if (route.phase === 'onRequest')
      declared.onRequest = [this.#serveOnRequest(place, route), declared.onRequest ?? []].flat()
    declared.handler = function cattlegrid(request, reply) {
      const exchange = new FastifyExchange(request, reply, place, {
        run: () => handler.call(this, request, reply),
      })
      slots.put(reply, exchange)
      serve(exchange, route)
      return exchange.returned
    }
  }

  /** Sends fresh entries before authentication and validation, for a route with `phase: 'onRequest'`. */
  #serveOnRequest(place: RoutePlace, route: CachedRoute): onRequestHookHandler {
    return (request, reply, next) => {
      const exchange = new FastifyExchange(request, reply, place, { run: () => undefined })
      this.#slots.put(reply, exchange)
      serveStored(exchange, route, () => {
        this.#slots.put(reply, undefined)
        next()
      })
    }
  }
}

/** Routes of one URL differ in their constraints: a version, a host. */
function placeName(constraints: RouteOptions['constraints']): string {
  if (constraints === undefined || Object.keys(constraints).length === 0) return ''
  return JSON.stringify(constraints, (_, value: unknown) => (value instanceof RegExp ? String(value) : value))
}
