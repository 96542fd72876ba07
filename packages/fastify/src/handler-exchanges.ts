import { directivesOf, notePassedError } from '@cattlegrid/http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppFacts } from './app-facts.ts'
import { FastifyExchange, type HandlerCalls, type RoutePlace } from './exchange.ts'
import { receivePayloadsFirst, setReceiver } from './first-on-send.ts'

/** Gives the handlers of cached routes their `ResponseDirectives`, unless another cache of the app has. */
function decorateReplies(app: FastifyInstance): void {
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
 * The exchanges of an app: of its routes, or of a framework that caches inside Fastify's handlers, such as
 * NestJS, where guards run there. Made before the app is ready.
 */
export class HandlerExchanges {
  readonly #facts: AppFacts

  constructor(app: FastifyInstance) {
    receivePayloadsFirst(app)
    this.#facts = new AppFacts(app)
    decorateReplies(app)
  }

  /** Makes the exchange of a request whose Fastify handler runs. `place`: see `NodeExchange.place`. */
  open(request: FastifyRequest, reply: FastifyReply, place: RoutePlace, handler: HandlerCalls): FastifyExchange {
    const exchange = new FastifyExchange(request, reply, place, this.#facts, handler)
    setReceiver(reply, exchange)
    return exchange
  }
}
