import { CattlegridError, type ErrorCode } from '@cattlegrid/core'
import type { RecordedResponse } from './recorded-response.ts'

/**
 * What cattlegrid answers when there is nothing to serve, with the code of the engine's error that led here; `status`, `statusCode` and
 * `headers` are read by Express and Fastify.
 */
export class ServeError extends CattlegridError {
  readonly status: 503 | 504
  readonly statusCode: 503 | 504
  /** `retry-after` in seconds, where trying again makes sense. */
  readonly headers: Readonly<Record<string, string>>

  constructor(code: ErrorCode, status: 503 | 504, message: string, headers: Readonly<Record<string, string>>) {
    super(code, message)
    this.status = status
    this.statusCode = status
    this.headers = headers
  }
}

const RESPONSE_FAILURE = Symbol.for('cattlegrid.responseFailure')
const HAND_OVER = Symbol.for('cattlegrid.handOver')

/** The load's error when a handler failed: 500 and more, broken off, or never ended. Counts as a failure: the key cools down. */
export class ResponseFailure extends Error {
  /** The whole answer, where those who wait for it may have it. */
  readonly response: RecordedResponse | undefined
  readonly code: string

  constructor(status: number | 'cut-off', response: RecordedResponse | undefined) {
    super(status === 'cut-off' ? 'The handler broke its answer off.' : `The handler answered ${status}.`)
    this.name = 'ResponseFailure'
    this.code = `HTTP_${status}`
    this.response = response
    Object.defineProperty(this, RESPONSE_FAILURE, { value: true })
  }
}

/** The load's error when nothing went wrong, but this request has nothing for the others: somebody else is to lead. */
export class NoSharedResult extends Error {
  constructor(why: string) {
    super(`Nothing to share: ${why}.`)
    this.name = 'HandOver'
    Object.defineProperty(this, HAND_OVER, { value: true })
  }
}

export function isNoSharedResult(error: unknown): error is NoSharedResult {
  return isBranded(error, HAND_OVER)
}

export function isResponseFailure(error: unknown): error is ResponseFailure {
  return isBranded(error, RESPONSE_FAILURE)
}

/** Two copies of the package share no class. */
function isBranded(error: unknown, brand: symbol): boolean {
  return typeof error === 'object' && error !== null && brand in error
}
