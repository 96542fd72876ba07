import { CattlegridError, type ErrorCode } from '@cattlegrid/core'
import type { RecordedResponse } from './recorded-response.ts'

/**
 * The 503 or 504 that a client gets when there is no response to serve, with the code of the engine's error
 * and none of its other members. Frameworks read `status`, `statusCode`, `headers` and `expose`.
 *
 * @example
 * import { ServeError } from '@cattlegrid/http'
 *
 * const isBusy = (error: unknown): boolean => error instanceof ServeError && error.statusCode === 503
 */
export class ServeError extends CattlegridError {
  readonly status: 503 | 504
  readonly statusCode: 503 | 504
  /** `retry-after` in seconds, where a retry may succeed. */
  readonly headers: Readonly<Record<string, string>>
  /** Clients may read the message. */
  readonly expose: boolean = true

  constructor(code: ErrorCode, status: 503 | 504, message: string, headers: Readonly<Record<string, string>>) {
    super(code, message, undefined, false)
    this.status = status
    this.statusCode = status
    this.headers = headers
  }
}

const RESPONSE_FAILURE = Symbol.for('cattlegrid.responseFailure')
const NO_SHARED_RESULT = Symbol.for('cattlegrid.noSharedResult')

/**
 * The error of a load whose handler failed: it answered 500 or more, aborted its response, or never ended it.
 * The key cools down.
 */
export class ResponseFailure extends Error {
  readonly code: string

  constructor(status: number | 'aborted', response: RecordedResponse | undefined) {
    super(status === 'aborted' ? 'The handler aborted its response.' : `The handler answered ${status}.`)
    this.name = 'ResponseFailure'
    this.code = `HTTP_${status}`
    // Not enumerable, and under a symbol: loggers print the enumerable members of an error.
    Object.defineProperty(this, RESPONSE_FAILURE, { value: { response } satisfies Shared })
  }
}

interface Shared {
  readonly response: RecordedResponse | undefined
}

/** The whole response of a failed handler, if waiting requests may get it. */
export function sharedResponseOf(error: unknown): RecordedResponse | undefined {
  return isResponseFailure(error) ? (error as unknown as Record<symbol, Shared>)[RESPONSE_FAILURE]?.response : undefined
}

/**
 * The error of a load that did not fail, but whose response no other request may get. One of the waiting
 * requests leads next.
 */
export class NoSharedResult extends Error {
  constructor(why: string) {
    super(`Nothing to share: ${why}.`)
    this.name = 'NoSharedResult'
    Object.defineProperty(this, NO_SHARED_RESULT, { value: true })
  }
}

export function isNoSharedResult(error: unknown): error is NoSharedResult {
  return isBranded(error, NO_SHARED_RESULT)
}

export function isResponseFailure(error: unknown): error is ResponseFailure {
  return isBranded(error, RESPONSE_FAILURE)
}

/** `instanceof` would fail between two copies of the package. */
function isBranded(error: unknown, brand: symbol): boolean {
  return typeof error === 'object' && error !== null && brand in error
}
