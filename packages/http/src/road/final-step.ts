import { isCattlegridError, type Lookup } from '@cattlegrid/core'
import type { IncomingHttpHeaders } from 'node:http'
import type { Recorder } from '../recorder/recorder.ts'
import { type Answer, answerFromWithheld } from '../response/answer.ts'
import type { BypassReason } from '../response/cache-status.ts'
import { errorResponseFor, unavailable } from '../response/error-response.ts'
import { isNoSharedResult, type ServeError, sharedResponseOf } from '../response/errors.ts'
import type { RecordedResponse } from '../response/recorded-response.ts'
import { isSelectedBy } from '../response/vary.ts'
import { OWN_RESPONSE } from './loaded-response.ts'
import type { RequestResult } from './request-lookup.ts'

/** What ends a request after its last lookup. */
export type FinalStep =
  /** The client has its response, gets it from its handler, or has left. */
  | { readonly kind: 'nothing' }
  /** The handler's response has begun, and will not be completed. */
  | { readonly kind: 'destroy' }
  /** The response of an entry, or of another request's load. */
  | { readonly kind: 'looked-up'; readonly lookup: Lookup<RecordedResponse> }
  /** The handler's response to another request that waited together with this one; it is not stored. */
  | { readonly kind: 'shared'; readonly response: RecordedResponse }
  /**
   * The response after this request's own handler answered 304. `status` 200: that 304 did not match, and a
   * subrequest got a new response.
   */
  | {
      readonly kind: 'revalidated'
      readonly response: RecordedResponse
      readonly status: 304 | 200
      readonly lookup: Lookup<unknown> | undefined
    }
  /**
   * An answer that is complete: the withheld failure of this request's own handler, or what
   * `only-if-cached` gets.
   */
  | { readonly kind: 'complete'; readonly answer: Answer }
  | { readonly kind: 'error'; readonly error: ServeError }
  /** The request's own handler runs. */
  | { readonly kind: 'bypass'; readonly why: BypassReason }
  /** The request's own handler runs. The reason has no name in `Cache-Status`. */
  | { readonly kind: 'pass' }

const NOTHING: FinalStep = { kind: 'nothing' }

/** The facts about a request whose own handler has run, or still runs. */
export interface HandledRequest {
  readonly recorder: Pick<Recorder, 'revalidated' | 'sent' | 'ended' | 'mismatched' | 'withheld' | 'status'>
  /**
   * The load ended by `loadTimeout` before the URL was known to be shareable: the handler answers its client
   * nevertheless.
   */
  readonly timedOutBeforeKnown: boolean
  readonly disconnected: boolean
}

/**
 * Names what ends a request whose own handler has run, or still runs: another response only where the handler
 * has sent nothing.
 */
export function stepAfterHandler(
  { recorder, timedOutBeforeKnown, disconnected }: HandledRequest,
  { lookup, error }: RequestResult,
): FinalStep {
  const timedOut = isCattlegridError(error, 'CATTLEGRID_LOAD_TIMEOUT')
  const { revalidated, withheld } = recorder
  if (timedOutBeforeKnown) return NOTHING
  if (revalidated !== undefined) return { kind: 'revalidated', response: revalidated, status: 304, lookup }
  if (recorder.sent) return timedOut && !recorder.ended ? { kind: 'destroy' } : NOTHING
  if (disconnected) return NOTHING
  const found = lookup !== undefined && bringsResponse(lookup) ? lookup : undefined
  if (found !== undefined && found.status !== 'loaded') return { kind: 'looked-up', lookup: found }
  if (found !== undefined && recorder.mismatched)
    return { kind: 'revalidated', response: found.value, status: 200, lookup: found }
  if (withheld !== undefined) return { kind: 'complete', answer: answerFromWithheld(withheld) }
  // No head and no timeout: the cache was closed, or the lease was lost. The handler did not fail,
  // and continues.
  if (!timedOut && recorder.status === undefined) return NOTHING
  return { kind: 'error', error: errorResponseFor(error) ?? unavailable('CATTLEGRID_LOAD_FAILED', 1000) }
}

/** The facts about a request whose own handler has not run. */
export interface UnhandledRequest {
  readonly headers: IncomingHttpHeaders
  /** As `isKnownShareable`: if not, the handler runs after `waitTimeout`, instead of a 503. */
  readonly knownShareable: boolean
  readonly timedOutBeforeKnown: boolean
  readonly disconnected: boolean
  /** The reason for a handler that runs because there is no shared response. */
  readonly bypassReason: BypassReason
}

/** Names what ends a request whose own handler has not run. */
export function stepWithoutHandler(request: UnhandledRequest, { lookup, error }: RequestResult): FinalStep {
  const { headers, knownShareable, timedOutBeforeKnown, disconnected, bypassReason: why } = request
  const waitedBeforeKnown = !knownShareable && isCattlegridError(error, 'CATTLEGRID_WAIT_TIMEOUT')
  if (disconnected) return NOTHING
  if (isNoSharedResult(error) || timedOutBeforeKnown || waitedBeforeKnown) return { kind: 'bypass', why }
  if (lookup !== undefined) {
    const isShared = bringsResponse(lookup) && isSelectedBy(lookup.value.selectedBy, headers)
    return isShared ? { kind: 'looked-up', lookup } : { kind: 'bypass', why: 'collapsed' }
  }
  const response = sharedResponseOf(error)
  if (response !== undefined && isSelectedBy(response.selectedBy, headers)) return { kind: 'shared', response }
  const failure = errorResponseFor(error)
  return failure === undefined ? { kind: 'pass' } : { kind: 'error', error: failure }
}

/** False for a load whose response only the handler's own client gets. */
function bringsResponse(lookup: Lookup<RecordedResponse | typeof OWN_RESPONSE>): lookup is Lookup<RecordedResponse> {
  return lookup.value !== OWN_RESPONSE
}
