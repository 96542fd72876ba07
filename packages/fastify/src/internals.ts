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

/** The symbol of this description among the own keys of an object of Fastify; each copy of Fastify has symbols of its own. */
export function symbolOf(object: object, description: string): symbol | undefined {
  return Object.getOwnPropertySymbols(object).find((symbol) => symbol.description === description)
}
