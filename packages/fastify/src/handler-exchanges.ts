import { directivesOf, type NodeExchange, notePassedError } from '@cattlegrid/http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { FastifyExchange, type HandlerCalls } from './exchange.ts'
import { serializerOf } from './internals.ts'
import { otherOnSendOf, receivePayloadsFirst, setReceiver } from './first-on-send.ts'
import { foldsPaths, type RoutePlace } from './route-place.ts'

/**
 * Gives the handlers of cached routes their `ResponseDirectives`. Also called where another cache of the app
 * has done so.
 */
export function decorateReplies(app: FastifyInstance): void {
  if (app.hasReplyDecorator('cattlegrid')) return
  app.addHook('onError', (request, _reply, error, done) => {
    notePassedError(request.raw, error)
    done()
  })
  app.decorateReply('cattlegrid', {
    getter() {
      return directivesOf(this.raw)
    },
  })
}

/**
 * The exchanges of an app whose framework caches inside Fastify's handlers, such as NestJS, where guards run
 * there. Made before the app is ready.
 */
export class HandlerExchanges {
  readonly #foldsPaths: boolean
  readonly #facts = { hasOnSend: otherOnSendOf(), hasSerializer: serializerOf() }

  constructor(app: FastifyInstance) {
    receivePayloadsFirst(app)
    this.#foldsPaths = foldsPaths(app)
    decorateReplies(app)
  }

  /** Makes the exchange of a request whose Fastify handler runs. `place`: see `NodeExchange.place`. */
  open(
    request: FastifyRequest,
    reply: FastifyReply,
    place: Pick<RoutePlace, 'name' | 'routingFields'>,
    handler: HandlerCalls,
  ): NodeExchange<FastifyRequest, FastifyReply> {
    const folded = this.#foldsPaths ? request.routeOptions.url : undefined
    const exchange = new FastifyExchange(request, reply, { ...place, folded, ...this.#facts }, handler)
    setReceiver(reply, exchange)
    return exchange
  }
}
