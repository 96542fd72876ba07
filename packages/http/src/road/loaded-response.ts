import type { Load, UncacheableOptions } from '@cattlegrid/core'
import type { IncomingHttpHeaders } from 'node:http'
import type { HandlerTimes } from './handler-times.ts'
import type { Miss } from './miss.ts'
import { NoSharedResult, ResponseFailure } from '../response/errors.ts'
import type { RecordedResponse, Stored } from '../response/recorded-response.ts'
import type { RecordingResult } from '../recorder/recording-result.ts'
import type { SubrequestResult } from './subrequest.ts'
import { isAmbiguity } from '../request/single-fields.ts'
import { selectingValues } from '../response/vary.ts'

/** One load, and the facts that a handler run for it needs. */
export interface LoadTask extends Miss {
  readonly load: Load<never>
  /** Identifies the load in `CDN-Loop`, for a handler that sends a request to its own URL. */
  readonly loadId: string
  /** The times of the handler of the request that leads. */
  readonly times: HandlerTimes
  /**
   * The layers outside of the request that leads have seen another URL than that of the key: see
   * `seesKeyedUrl`.
   */
  readonly unkeyedUrl: boolean
  /** An audit decides whether the response is stored. Default: false. */
  readonly audited?: boolean | undefined
}

/** The value of a load whose response only the handler's own client gets, from the handler. */
export const OWN_RESPONSE: unique symbol = Symbol('own response')

/** What a load brings to its callers. */
export type Loaded = Stored | typeof OWN_RESPONSE

/**
 * What was produced for a load, before it is kept: the response to a request with these fields, which select
 * the variant.
 */
export interface LoadResult {
  readonly result: StorableResult | UnstoredResult
  readonly requestFields: IncomingHttpHeaders
}

/**
 * The reasons that may not hold for the next response: they make a key uncacheable for 1 s instead of 10 s.
 */
const BRIEF_REASONS = new Set(['status', 'handler', 'tags', 'unkeyed-url'])

/** A response that can be stored, with its lifetime and the names of its `Vary`. */
export type StorableResult = RecordingResult & { readonly kind: 'store' }

/** A response that is not stored: its key becomes uncacheable, by these options. */
export interface UnstoredResult {
  readonly kind: 'uncacheable'
  readonly value: RecordedResponse | typeof OWN_RESPONSE
  readonly options: UncacheableOptions
}

/**
 * Maps the recording of the client's own handler to the result of its load: a response to store, one that
 * those who joined share, or none for others.
 *
 * @param requestFields those that the handler saw.
 * @param knownShareable as `isKnownShareable`: if not, an aborted response starts no cooldown.
 * @throws ResponseFailure when the handler failed; NoSharedResult when its client disconnected before the
 * response was complete, or the request is ambiguous.
 */
export function resultOfHandler(
  recorded: Exclude<RecordingResult, { kind: 'mismatched' }>,
  requestFields: IncomingHttpHeaders,
  knownShareable: boolean,
): StorableResult | UnstoredResult {
  switch (recorded.kind) {
    case 'store':
      return recorded
    case 'share':
      return {
        kind: 'uncacheable',
        value: withSelectingValues(recorded.response, recorded.vary, requestFields),
        options: { for: '1s', share: true, why: recorded.why },
      }
    case 'unshareable':
      if (isAmbiguity(recorded.why))
        throw new NoSharedResult(`only its own client may have the response (${recorded.why})`)
      return ownResponse(recorded.why, recorded.temporary === true || BRIEF_REASONS.has(recorded.why) ? '1s' : '10s')
    case 'fail':
      throw new ResponseFailure(
        recorded.status,
        recorded.response && withSelectingValues(recorded.response, recorded.vary, requestFields),
      )
    case 'aborted':
      if (recorded.cause === 'disconnect') throw new NoSharedResult('the client disconnected')
      if (knownShareable) throw new ResponseFailure('aborted', undefined)
      return ownResponse('incomplete', '1s')
  }
}

function ownResponse(why: string, time: '1s' | '10s'): UnstoredResult {
  return { kind: 'uncacheable', value: OWN_RESPONSE, options: { for: time, share: false, why } }
}

/** Limits a response that varies to requests with the same selecting fields. */
function withSelectingValues(
  response: RecordedResponse,
  vary: readonly string[],
  requestFields: IncomingHttpHeaders,
): RecordedResponse {
  return vary.length === 0 ? response : { ...response, selectedBy: selectingValues(vary, requestFields) }
}

/**
 * Maps a subrequest's response to the result of its load. One that cannot be stored does not make the key
 * uncacheable: a subrequest has no cookies and no credentials, and its response, such as a login page, says
 * nothing about other requests.
 *
 * @throws ResponseFailure when the handler failed in a background load; NoSharedResult when nothing can be
 * stored, or when the handler failed while a
 *   client waits: a `HEAD` request then runs its own handler, and after a 304 that did not match, the client gets an error.
 */
export function resultOfSubrequest(recorded: SubrequestResult, load: Load<never>): StorableResult {
  if (recorded.kind === 'store') return recorded
  if (recorded.kind === 'fail' && load.background) throw new ResponseFailure(recorded.status, undefined)
  if (recorded.kind === 'aborted' && load.background) throw new ResponseFailure('aborted', undefined)
  throw new NoSharedResult(`the response cannot be stored (${rejectionOf(recorded) ?? recorded.kind})`)
}

/**
 * Why a subrequest's response is rejected; undefined: it is not, its handler failed, or the cache was
 * switched off.
 */
export function rejectionOf(recorded: SubrequestResult): string | undefined {
  if (recorded.kind === 'unshareable' || recorded.kind === 'share') return recorded.why
  if (recorded.kind === 'other-key') return 'key'
  return recorded.kind === 'unreached' ? 'unreached' : undefined
}
