import type { IncomingMessage } from 'node:http'
import { processWide } from '@cattlegrid/core/extend'
import type { Judgement } from './storable.ts'

/** The last error that the framework got from the handler of each request. */
const errors = processWide('passed-errors/1', () => new WeakMap<IncomingMessage, { readonly error: unknown }>())

/**
 * Call it where the framework gets an error while a handler runs. What its error handling then answers is not
 * stored, unless the error itself names that status.
 *
 * @example
 * import { notePassedError } from '@cattlegrid/http'
 *
 * const onError = (error: unknown): void => notePassedError(req, error)
 */
export function notePassedError(req: IncomingMessage, error: unknown): void {
  errors.set(req, { error })
}

/** Call it before a handler runs: an error of a layer outside is not the handler's. */
export function forgetPassedError(req: IncomingMessage): void {
  errors.delete(req)
}

/**
 * The judgement on an answer of this status to a request. An error that names the status itself, as
 * `NotFoundException`, is a way to answer it.
 */
export function judgePassedError(req: IncomingMessage, status: number, judgement: Judgement): Judgement {
  const passed = errors.get(req)
  return passed === undefined ? judgement : judgedByError(passed.error, status, judgement)
}

/**
 * The judgement on the answer of this status that an error handling gave for `error`.
 *
 * @example
 * import { judgedByError } from '@cattlegrid/http/binding'
 *
 * const judgement = judgedByError(new Error('no database'), 500, { kind: 'share', why: 'status' })
 */
export function judgedByError(error: unknown, status: number, judgement: Judgement): Judgement {
  if (judgement.kind !== 'store' && judgement.kind !== 'share') return judgement
  return status >= 400 && statusOf(error) === status ? judgement : { kind: 'fail', share: true }
}

function statusOf(error: unknown): unknown {
  if (typeof error !== 'object' || error === null) return undefined
  const { status, statusCode } = error as { readonly status?: unknown; readonly statusCode?: unknown }
  return status ?? statusCode
}
