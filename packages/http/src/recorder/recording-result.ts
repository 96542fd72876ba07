import type { CopyLimits } from './body-copy.ts'
import { recordResponse, type RecordingRules } from '../response/record-response.ts'
import { selectingNames } from '../response/recorded-fields.ts'
import type { RecordedResponse } from '../response/recorded-response.ts'
import { hasDeclaredLength, type ResponseHead } from '../response/response-head.ts'
import type { Lifetime } from '../response/lifetime.ts'
import type { Judgement, Unstorable } from '../response/storable.ts'

/**
 * Why a response is not completed. `disconnect`: its client has left, which is no failure. `failure`: its
 * handler or its load has ended it.
 */
export type AbortCause = 'disconnect' | 'failure'

/**
 * The result of a recording. `vary` names the request fields by which the handler chose the response:
 * lower-case, sorted.
 */
export type RecordingResult =
  | {
      readonly kind: 'store'
      readonly response: RecordedResponse
      readonly lifetime: Lifetime
      readonly vary: readonly string[]
    }
  /** The response is not stored, but the requests that wait may have it. */
  | {
      readonly kind: 'share'
      readonly why: Unstorable
      readonly response: RecordedResponse
      readonly vary: readonly string[]
    }
  /**
   * Only the handler's own client may have the response. `temporary`: the same response may be storable soon.
   */
  | { readonly kind: 'unshareable'; readonly why: Unstorable; readonly temporary?: boolean | undefined }
  /**
   * The handler failed; `response` is undefined where the requests that wait may not have it, or it is
   * not complete.
   */
  | {
      readonly kind: 'fail'
      readonly status: number
      readonly response: RecordedResponse | undefined
      readonly vary: readonly string[]
    }
  /** The response was not completed. */
  | { readonly kind: 'aborted'; readonly cause: AbortCause }
  /** The handler's 304 is about another response than the stored one. */
  | { readonly kind: 'mismatched' }

/** A response whose head is known. */
export interface JudgedResponse {
  /**
   * `sent`: the client gets the handler's response, or needs none any more. `withheld`: the client gets a
   * stale response, or this one if there is none. `revalidated`: the handler's 304 confirmed the stored
   * response, whose head and body these are.
   */
  readonly kind: 'sent' | 'withheld' | 'revalidated'
  readonly head: ResponseHead
  readonly judgement: Judgement
}

/** The body so far. */
export interface BodyFacts {
  /** Empty where a limit was exceeded. */
  readonly bytes: Buffer
  /** The handler said that the body is complete. */
  readonly ended: boolean
  /** The limit that the body exceeded. */
  readonly exceeded: keyof CopyLimits | undefined
}

export interface ResultRules extends RecordingRules {
  /** Names in `Vary` that do not select, lower-case. Default: none. */
  readonly ignoreVary?: readonly string[] | undefined
  /** Fields of a stored response, where no layer has set them. */
  readonly defaults?: Readonly<Record<string, string>> | undefined
}

/** The result of a recording at the time `now`; undefined as long as it is not certain. */
export function recordingResult(
  response: JudgedResponse,
  body: BodyFacts,
  rules: ResultRules,
  now: number,
): RecordingResult | undefined {
  const { head, judgement } = response
  const { bytes, ended, exceeded } = body
  // The client of a withheld response may need its whole body.
  if (response.kind === 'withheld' && !ended && exceeded === undefined) return undefined
  if (judgement.kind === 'unshareable') return judgement
  if (judgement.kind === 'fail') return failureResult(response, judgement.share, body, rules, now)
  if (exceeded !== undefined)
    return { kind: 'unshareable', why: 'too-large', temporary: exceeded === 'maxCaptureBytes' }
  if (!ended) return undefined
  if (!isComplete(response, bytes)) return { kind: 'aborted', cause: 'failure' }
  const recorded = recordResponse(head, bytes, rules, now)
  const vary = selectingNames(head, rules.ignoreVary)
  if (judgement.kind === 'share') return { kind: 'share', why: judgement.why, response: recorded, vary }
  const lifetime = lifetimeLeft(judgement.lifetime, now)
  if (lifetime.ttl < 1) return { kind: 'unshareable', why: 'no-freshness' }
  return { kind: 'store', response: withDefaults(recorded, head, rules.defaults), lifetime, vary }
}

/** The result of a recording whose response was aborted; `response` is undefined where there is no head. */
export function abortedResult(response: JudgedResponse | undefined, cause: AbortCause): RecordingResult {
  if (response?.judgement.kind !== 'fail') return { kind: 'aborted', cause }
  return { kind: 'fail', status: response.head.status, response: undefined, vary: [] }
}

/** The result where the handler has read who its client is, which may show only after the head. */
export function personalResult(result: RecordingResult): RecordingResult {
  if (result.kind === 'fail') return { ...result, response: undefined }
  return result.kind === 'store' || result.kind === 'share' ? { kind: 'unshareable', why: 'personal' } : result
}

function failureResult(
  response: JudgedResponse,
  share: boolean,
  body: BodyFacts,
  rules: ResultRules,
  now: number,
): RecordingResult | undefined {
  const { head } = response
  const { bytes, ended, exceeded } = body
  if (share && !ended && exceeded === undefined) return undefined
  const shared = share && exceeded === undefined && isComplete(response, bytes)
  const recorded = shared ? recordResponse(head, bytes, rules, now) : undefined
  return { kind: 'fail', status: head.status, response: recorded, vary: selectingNames(head, rules.ignoreVary) }
}

/** The body of a stored response is complete, whatever length an outer layer declared. */
function isComplete({ kind, head }: JudgedResponse, bytes: Buffer): boolean {
  return kind === 'revalidated' || hasDeclaredLength(head, bytes.length)
}

/**
 * A lifetime that the response declares runs from its head on: a slow body has used a part of it. In whole
 * seconds, as every age.
 */
function lifetimeLeft(lifetime: Lifetime, now: number): Lifetime {
  const elapsed = Math.max(0, now - (lifetime.since ?? Infinity))
  return { ...lifetime, ttl: lifetime.ttl - Math.floor(elapsed / 1000) * 1000 }
}

function withDefaults(
  response: RecordedResponse,
  { fields }: ResponseHead,
  defaults: ResultRules['defaults'] = {},
): RecordedResponse {
  const missing = Object.entries(defaults).filter(([name]) => !(name in fields))
  return { ...response, fields: { ...Object.fromEntries(missing), ...response.fields } }
}
