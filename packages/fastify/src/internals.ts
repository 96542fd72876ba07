import type { FastifyReply, FastifyRequest } from 'fastify'
import { UnsupportedFastifyError } from './errors.ts'

/**
 * What Fastify keeps under a symbol of this description, which it does not export.
 *
 * @throws UnsupportedFastifyError if it keeps nothing there.
 */
export function internalOf(owner: object, description: string): object {
  for (let object: object | null = owner; object !== null; object = Object.getPrototypeOf(object) as object | null) {
    const symbol = symbolOf(object, description)
    const value: unknown = symbol && Reflect.get(object, symbol)
    if (typeof value === 'object' && value !== null) return value
  }
  throw new UnsupportedFastifyError(description)
}

/**
 * The symbol of this description among the own keys of an object of Fastify; each copy of Fastify has symbols
 * of its own.
 */
export function symbolOf(object: object, description: string): symbol | undefined {
  return Object.getOwnPropertySymbols(object).find((symbol) => symbol.description === description)
}

/**
 * Returns a function that is true for a reply for which a serializer was chosen; also where Fastify does not
 * show it.
 */
export function serializerOf(): (reply: FastifyReply) => boolean {
  let symbol: symbol | undefined
  return (reply) => {
    symbol ??= symbolOf(reply, 'fastify.reply.serializer')
    return symbol === undefined || Reflect.get(reply, symbol) !== null
  }
}

/** True if `reply.callNotFound` runs `preHandler` hooks of the app; also where Fastify does not show it. */
export function runsHooksForNotFound(request: FastifyRequest): boolean {
  const route = memberOf(request, 'fastify.context')
  const notFound = memberOf(route, 'fastify.404ContextKey')
  return !(notFound instanceof Object && 'preHandler' in notFound && notFound.preHandler === null)
}

function memberOf(owner: unknown, description: string): unknown {
  const symbol = owner instanceof Object ? symbolOf(owner, description) : undefined
  return symbol && Reflect.get(owner as object, symbol)
}
