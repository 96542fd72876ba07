import { isCattlegridError } from '@cattlegrid/core'
import { isResponseFailure, ServeError } from './errors.ts'

/**
 * The error response to a request whose lookup failed; undefined where only the cache failed, and the handler
 * can run without it. The text names the cause, and nothing from the handler or the key.
 */
export function errorResponseFor(error: unknown): ServeError | undefined {
  if (isResponseFailure(error)) return unavailable('CATTLEGRID_LOAD_FAILED', 1000, failureText(error.code))
  if (isCattlegridError(error, 'CATTLEGRID_LOAD_FAILED'))
    return unavailable(error.code, error.retryAfter, `cooling down after ${failureText(error.cause.code)}`)
  if (isCattlegridError(error, 'CATTLEGRID_LOAD_TIMEOUT'))
    return new ServeError(error.code, 504, textOf('the handler did not answer in time'), {})
  if (isCattlegridError(error, 'CATTLEGRID_WAIT_TIMEOUT'))
    return unavailable(error.code, 1000, 'waited too long for the response to another request')
  if (isCattlegridError(error, 'CATTLEGRID_TOO_MANY_WAITERS'))
    return unavailable(error.code, 1000, 'too many requests are waiting')
  if (isCattlegridError(error, 'CATTLEGRID_OVERLOADED'))
    return unavailable(error.code, error.retryAfter, 'too many other requests come first')
  return undefined
}

/** A 503 with `Retry-After` in whole seconds, at least one. */
export function unavailable(code: ServeError['code'], delay: number, cause?: string): ServeError {
  return new ServeError(code, 503, textOf(cause), { 'retry-after': String(Math.max(1, Math.ceil(delay / 1000))) })
}

function textOf(cause: string | undefined): string {
  return `Temporarily unavailable; retry later${cause === undefined ? '' : ` (${cause})`}.`
}

/** Describes failures with a code of this library only: another code comes from the handler. */
function failureText(code: string | undefined): string {
  if (code === 'HTTP_aborted') return 'the handler aborted its response'
  if (code === 'CATTLEGRID_LOAD_TIMEOUT') return 'the handler did not answer in time'
  const [, status] = /^HTTP_(\d{3})$/.exec(code ?? '') ?? []
  return status === undefined ? 'the handler failed' : `the handler answered ${status}`
}
