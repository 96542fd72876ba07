import type { FastifyInstance, FastifyReply } from 'fastify'
import type { FastifyExchange } from './exchange.ts'
import { addFirstOnSend } from './known-apps.ts'

/**
 * Gives the payloads of an app's replies to their exchanges, before the `onSend` hooks of others. The exchange of a request is a property of its reply: for a
 * hit that costs less than a map of all replies.
 */
export class ExchangeSlots {
  readonly #slot = Symbol('cattlegrid.exchange')

  constructor(app: FastifyInstance) {
    app.decorateReply(this.#slot, undefined)
    addFirstOnSend(app, (reply, payload, done) => {
      const exchange = slotsOf(reply)[this.#slot]
      if (exchange === undefined) done(null, payload)
      else exchange.onSend(payload, done)
    })
  }

  put(reply: FastifyReply, exchange: FastifyExchange | undefined): void {
    slotsOf(reply)[this.#slot] = exchange
  }
}

/** Fastify's types do not know decorators whose name is a symbol. */
function slotsOf(reply: object): Record<symbol, FastifyExchange | undefined> {
  return reply as Record<symbol, FastifyExchange | undefined>
}
