import type { FastifyInstance, FastifyReply } from 'fastify'
import type { FastifyExchange } from './exchange.ts'

type Slotted = Record<symbol, FastifyExchange | undefined>

/** The property of a reply that holds its exchange. A property costs a hit less than a map of all replies. */
export class ExchangeSlot {
  readonly #name = Symbol('cattlegrid.exchange')

  constructor(app: FastifyInstance) {
    app.decorateReply(this.#name, undefined)
  }

  of(reply: FastifyReply): FastifyExchange | undefined {
    return slotsOf(reply)[this.#name]
  }

  put(reply: FastifyReply, exchange: FastifyExchange | undefined): void {
    slotsOf(reply)[this.#name] = exchange
  }
}

/** Fastify's types do not know decorators whose name is a symbol. */
function slotsOf(reply: object): Slotted {
  return reply as Slotted
}
