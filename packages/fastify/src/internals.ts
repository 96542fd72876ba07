import type { FastifyRequest } from 'fastify'
import { UnsupportedFastifyError } from './errors.ts'

/**
 * What Fastify keeps under a symbol of this description, which it does not export; each copy of Fastify has
 * symbols of its own.
 *
 * @throws UnsupportedFastifyError if it keeps nothing there.
 */
export function internalOf(owner: object, description: string): object {
  const value = internalIn(owner, description)
  if (value === undefined) throw new UnsupportedFastifyError(description)
  return value
}

/** The same; undefined if it keeps nothing there. */
export function internalIn(owner: object, description: string): object | undefined {
  for (let object: object | null = owner; object !== null; object = Object.getPrototypeOf(object) as object | null) {
    const symbol = symbolOf(object, description)
    const value: unknown = symbol && Reflect.get(object, symbol)
    if (typeof value === 'object' && value !== null) return value
  }
  return undefined
}

/** The symbol of this description among the own keys of an object of Fastify. */
export function symbolOf(object: object, description: string): symbol | undefined {
  return Object.getOwnPropertySymbols(object).find((symbol) => symbol.description === description)
}

/** True if `reply.callNotFound` runs `preHandler` hooks of the app; also where Fastify does not show it. */
export function runsHooksForNotFound(request: FastifyRequest): boolean {
  const route = internalIn(request, 'fastify.context')
  const notFound = route && internalIn(route, 'fastify.404ContextKey')
  return !(notFound !== undefined && 'preHandler' in notFound && notFound.preHandler === null)
}
