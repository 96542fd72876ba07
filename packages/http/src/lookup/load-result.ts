import { type Load, LONGEST_WINDOW } from '@cattlegrid/core'
import type { IncomingHttpHeaders } from 'node:http'
import { NoSharedResult, ResponseFailure } from '../response/errors.ts'
import type { RecordedResponse } from '../response/recorded-response.ts'
import type { Recorded } from '../capture/recorder.ts'
import { retained } from '../response/revalidate.ts'
import type { Lifetime } from '../response/storable.ts'
import type { SubrequestResult } from './subrequest.ts'
import { choiceOf, type VaryRecord } from '../response/vary.ts'

/** A load that needs a response. */
export interface ResponseLoad {
  readonly load: Load<never>
  /** The record of variants that led to the load's key; undefined: the key is the URL's own. */
  readonly record: VaryRecord | undefined
  /** Names the load to a handler that sends a request to its own URL. */
  readonly loopName: string
}

/** The response that a load got, and the request fields that the handler saw: they select the variant. */
export interface LoadResult {
  readonly result: StorableResult | RecordedResponse
  readonly headers: IncomingHttpHeaders
}

/** What an error says about its route is soon out of date. */
const BRIEF_REASONS = new Set(['status', 'handler', 'tags'])

/** In the place of an answer that only its own client may have, and has: never served. */
export const PRIVATE_RESPONSE: RecordedResponse = {
  status: 500,
  fields: {},
  removed: [],
  body: Buffer.alloc(0),
  initialAge: 0,
}

/** An answer that is kept, with what its load is told. */
export type StorableResult = Recorded & { readonly kind: 'store' }

/**
 * What a load makes of the answer of the client's own handler, which was shown these fields: the answer to store, or one to share as it is; or
 * the error that says why there is neither. `own`: a failure is its client's alone.
 *
 * @throws ResponseFailure when the handler failed; NoSharedResult when its client left in the middle.
 */
export function resultOfHandler(
  recorded: Exclude<Recorded, { kind: 'outdated' }>,
  load: Load<never>,
  shown: IncomingHttpHeaders,
  own: boolean,
): StorableResult | RecordedResponse {
  switch (recorded.kind) {
    case 'store':
      return recorded
    case 'share':
      load.uncacheable({ for: '1s', share: true })
      return withSelectingValues(recorded.response, recorded.vary, shown)
    case 'own':
      load.uncacheable({ share: false, for: uncacheableFor(recorded, own) })
      return PRIVATE_RESPONSE
    case 'fail':
      throw new ResponseFailure(
        recorded.status,
        recorded.response && withSelectingValues(recorded.response, recorded.vary, shown),
      )
    case 'lost':
      if (recorded.by === 'client') throw new NoSharedResult('its client left')
      if (!own) throw new ResponseFailure('cut-off', undefined)
      load.uncacheable({ share: false, for: uncacheableFor(recorded, own) })
      return PRIVATE_RESPONSE
  }
}

/** How long everybody runs alone at the key after such an answer, ms. `own`: a failure is its client's alone. */
export function uncacheableFor(recorded: Recorded, own: boolean): number {
  if (recorded.kind === 'own') return recorded.passing === true || BRIEF_REASONS.has(recorded.why) ? 1000 : 10_000
  return recorded.kind === 'lost' && recorded.by === 'handler' && own ? 1000 : 0
}

/** An answer that varies is shared only with who would have been given the same. */
function withSelectingValues(
  response: RecordedResponse,
  vary: readonly string[],
  shown: IncomingHttpHeaders,
): RecordedResponse {
  return vary.length === 0 ? response : { ...response, chosenBy: choiceOf(vary, shown) }
}

/**
 * What a load makes of a subrequest's answer. One that cannot be stored leaves no trace: nobody asked for it, and what a request without
 * cookies and credentials is told, a login page above all, says nothing about the others.
 *
 * @throws ResponseFailure when the handler failed, but for `HEAD`, whose own handler may know better; else NoSharedResult.
 */
export function resultOfSubrequest(recorded: SubrequestResult, load: Load<never>): StorableResult {
  if (recorded.kind === 'store') return recorded
  if (recorded.kind === 'fail' && load.background) throw new ResponseFailure(recorded.status, undefined)
  if (recorded.kind === 'lost' && load.background) throw new ResponseFailure('cut-off', undefined)
  throw new NoSharedResult('its answer cannot be stored')
}

/** Returns the answer to store, with its lifetime told to the load. */
export function keepResponse(
  load: Load<never>,
  { response, lifetime }: StorableResult,
  revalidate: boolean,
): RecordedResponse {
  const longer = revalidate ? retained(response, lifetime) : undefined
  if (longer === undefined) {
    keepFor(load, lifetime)
    return response
  }
  const { staleWhileRevalidate = 0 } = lifetime
  keepFor(load, { ...lifetime, staleWhileRevalidate, staleIfError: longer.staleIfError })
  return { ...response, usableFor: longer.usableFor }
}

/** A record of variants is kept this long at least, so that it outlives them: 1 day. */
const MIN_RECORD_TTL = 86_400_000

/** Longer than any of its variants, ms. */
export function varyRecordTtl({ ttl, staleWhileRevalidate = 0, staleIfError = 0 }: Lifetime): number {
  return Math.max(MIN_RECORD_TTL, 2 * (ttl + Math.max(staleWhileRevalidate, staleIfError)))
}

function keepFor(load: Load<never>, { ttl, staleWhileRevalidate, staleIfError, tags }: Lifetime): void {
  load.keep({
    ttl,
    staleWhileRevalidate: atMostLongest(staleWhileRevalidate),
    staleIfError: atMostLongest(staleIfError),
    tags,
  })
}

function atMostLongest(window: number | undefined): number | undefined {
  return window === undefined ? undefined : Math.min(window, LONGEST_WINDOW)
}
