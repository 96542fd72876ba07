import { type Route, serve, serveStored } from '@cattlegrid/http'
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler, RouteOptions } from 'fastify'
import type { RoutePlace } from './exchange.ts'
import { setReceiver } from './first-on-send.ts'
import { HandlerExchanges } from './handler-exchanges.ts'

type CachedRoute = Route<FastifyRequest, FastifyReply>

/** What the requests of a route have shown. */
interface SeenOfRoute {
  readonly choosesSerializer: boolean
}

/** Puts the cache into routes. */
export class RouteHandlers {
  /** The handlers of the routes installed so far, each with its URLs. */
  readonly #urlsOf = new WeakMap<object, Set<string>>()
  readonly #exchanges: HandlerExchanges

  constructor(app: FastifyInstance) {
    this.#exchanges = new HandlerExchanges(app)
  }

  /**
   * True for a `HEAD` route that the app declares itself: it may answer differently from the `GET` route of
   * its URL.
   */
  isOwnHeadRoute({ method, handler, url }: RouteOptions): boolean {
    return [method].flat().every((name) => name === 'HEAD') && this.#urlsOf.get(handler)?.has(url) !== true
  }

  /**
   * Replaces the handler. A `preHandler` would not do: a plugin that is registered later may append one of
   * its own to the route, such as the authentication.
   */
  install(declared: RouteOptions, route: CachedRoute): void {
    const { handler, constraints } = declared
    this.#urlsOf.set(handler, (this.#urlsOf.get(handler) ?? new Set()).add(declared.url))
    const version = constraints?.version
    const routingFields = version === undefined ? undefined : { 'accept-version': version }
    const place = { name: placeName(constraints), routingFields }
    const seen = { choosesSerializer: false }
    if (route.phase === 'onRequest')
      declared.onRequest = [this.#serveOnRequest(place, route, seen), declared.onRequest ?? []].flat()
    const exchanges = this.#exchanges
    declared.handler = function cattlegrid(request, reply) {
      const exchange = exchanges.open(request, reply, place, { run: () => handler.call(this, request, reply) })
      if (route.phase === 'onRequest') seen.choosesSerializer ||= exchange.ownSerializer
      serve(exchange, route)
      return exchange.returned
    }
  }

  /**
   * Sends fresh entries before authentication and validation, for a route with `phase: 'onRequest'`; no more
   * once a later hook was seen to choose a serializer for a client: which clients get one is known only
   * behind it.
   */
  #serveOnRequest(place: RoutePlace, route: CachedRoute, seen: SeenOfRoute): onRequestHookHandler {
    return (request, reply, next) => {
      if (seen.choosesSerializer) return next()
      const exchange = this.#exchanges.open(request, reply, place, { run: () => undefined })
      serveStored(exchange, route, () => {
        setReceiver(reply, exchange.outer)
        next()
      })
    }
  }
}

/** The constraints of Fastify's own that a subrequest meets: it carries the version and the host. */
const CARRIED_CONSTRAINTS = new Set(['version', 'host'])

/**
 * True if Fastify finds the route by what only a client's request has: the app has a strategy for
 * the constraint.
 */
export function hasOwnConstraints({ constraints = {} }: RouteOptions): boolean {
  return Object.keys(constraints).some((name) => !CARRIED_CONSTRAINTS.has(name))
}

/** Routes of one URL differ in their constraints: a version, a host. */
function placeName(constraints: RouteOptions['constraints']): string {
  if (constraints === undefined || Object.keys(constraints).length === 0) return ''
  return JSON.stringify(constraints, (_, value: unknown) => (value instanceof RegExp ? String(value) : value))
}
