import { isCattlegridError } from '@cattlegrid/core'
import { isResponseFailure, ServeError } from './errors.ts'

const MESSAGE = 'The answer to this request is not to be had at the moment.'

/**
 * What is answered in the place of a value that did not come; undefined where the reason concerns the cache alone, and the handler may
 * well run without it.
 */
export function unanswered(error: unknown): ServeError | undefined {
  if (isResponseFailure(error)) return tryAgain('CATTLEGRID_LOAD_FAILED', 1000)
  if (isCattlegridError(error, 'CATTLEGRID_LOAD_FAILED')) return tryAgain('CATTLEGRID_LOAD_FAILED', error.retryAfter)
  if (isCattlegridError(error, 'CATTLEGRID_LOAD_TIMEOUT')) return new ServeError(error.code, 504, MESSAGE, {})
  if (isCattlegridError(error, 'CATTLEGRID_WAIT_TIMEOUT')) return tryAgain(error.code, 1000)
  if (isCattlegridError(error, 'CATTLEGRID_TOO_MANY_WAITERS')) return tryAgain(error.code, 1000)
  return undefined
}

/** `Retry-After` in whole seconds, at least one. */
export function tryAgain(code: ServeError['code'], delay: number): ServeError {
  return new ServeError(code, 503, MESSAGE, { 'retry-after': String(Math.max(1, Math.ceil(delay / 1000))) })
}
