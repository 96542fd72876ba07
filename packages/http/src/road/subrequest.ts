import type { AsyncResource } from 'node:async_hooks'
import type { Recorder } from '../recorder/recorder.ts'
import type { RecordingResult } from '../recorder/recording-result.ts'
import type { MissReason } from '../response/cache-status.ts'
import type { RecordedResponse } from '../response/recorded-response.ts'

/** The facts about the load that sent a subrequest, for the recorder of its handler. */
export interface SubrequestFacts extends MissReason {
  /** The stored response whose validators it carries. */
  readonly responseToRevalidate?: RecordedResponse | undefined
  /** True if the load holds the lease: only then can the response be stored. */
  readonly leased: boolean
  /** A response of this URL was stored before: the URL is known to be shareable. */
  readonly storedBefore: boolean
}

/** Marks a subrequest for the place that sent it. */
export interface SubrequestMarker {
  readonly place: string
  /** The key of the request that caused the subrequest. */
  readonly key: string
  /**
   * Called when the subrequest reaches the place that sent it: the handler runs, and `recorder` records
   * its response.
   */
  onReached(recorder: Recorder): void
  /** Called when the subrequest reaches that place, but its handler must not run. */
  onRefused(kind: Refusal): void
  readonly facts: SubrequestFacts
}

/** A request of the cache's own: a `GET` for the URL and the host of a key (RFC 9111 section 4.3.1). */
export interface Subrequest {
  readonly place: string
  readonly key: string
  readonly scheme: string
  readonly host: string
  readonly target: string
  /** All fields except `Host` and the pseudo-header fields. */
  readonly headers: Readonly<Record<string, string>>
  readonly facts: SubrequestFacts
  /** It comes from another address than the client, and shows no certificate. */
  readonly anotherClient: boolean
  /** Aborts the subrequest, whatever the handler does. */
  readonly signal: AbortSignal
  readonly scope: AsyncResource
}

/**
 * Sends a subrequest through the whole application, as far as its binding can; resolves to the result that
 * the place recorded.
 */
export type SendSubrequest = (subrequest: Subrequest) => Promise<SubrequestResponse>

/**
 * Why the place that sent a subrequest runs no handler for it. `other-key`: it makes another key of the
 * subrequest, because the key holds a value that the subrequest lacks. `switched-off`: the cache was paused
 * or disabled meanwhile.
 */
type Refusal = 'other-key' | 'switched-off'

/**
 * `unreached`: it ended before its place recorded it: an outer layer answered, the load was aborted, or its
 * key could not be made.
 */
export type SubrequestResult = RecordingResult | { readonly kind: 'unreached' | Refusal }

/** What came of a subrequest. */
export interface SubrequestResponse {
  readonly result: SubrequestResult
  /** undefined: no head came. */
  readonly status: number | undefined
}
