const MAX_INTEGER = 2_147_483_647

/** A request with a mistake. Express reads `status`, Fastify reads `statusCode`. */
export class RequestError extends Error {
  readonly status: number
  readonly statusCode: number

  constructor(status: number, message: string) {
    super(message)
    this.name = 'RequestError'
    this.status = status
    this.statusCode = status
  }
}

export interface ProductChange {
  readonly priceCents: number
}

export function notFound(message: string): never {
  throw new RequestError(404, message)
}

/** An id from the path. A malformed id names no product: 404, not 400. */
export function readId(text: unknown): number {
  return readPositive(text) ?? notFound('there is no such product')
}

/** `?page=`. Default: 1. */
export function readPage(text: unknown): number {
  const page = text === undefined ? 1 : readPositive(text)
  if (page === undefined || page > 1_000_000)
    throw new RequestError(400, 'page must be a whole number from 1 to 1000000')
  return page
}

export function readChange(body: unknown): ProductChange {
  const price = typeof body === 'object' && body !== null && 'priceCents' in body ? body.priceCents : undefined
  if (typeof price !== 'number' || !Number.isInteger(price) || price < 1 || price > MAX_INTEGER) {
    throw new RequestError(400, 'the body must be JSON like { "priceCents": 1999 }, a whole number above 0')
  }
  return { priceCents: price }
}

function readPositive(text: unknown): number | undefined {
  if (typeof text !== 'string' || !/^[1-9]\d{0,9}$/.test(text)) return undefined
  const value = Number(text)
  return value <= MAX_INTEGER ? value : undefined
}
