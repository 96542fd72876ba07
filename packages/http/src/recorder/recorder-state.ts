import type { JudgedResponse } from './recording-result.ts'
import type { RecordedResponse } from '../response/recorded-response.ts'
import type { ResponseHead } from '../response/response-head.ts'
import { confirms, freshened } from '../response/revalidate.ts'
import type { Judgement } from '../response/storable.ts'

/** What a recorder knows of the handler's response. */
export type RecorderState =
  /** The handler has given no head. */
  | { readonly kind: 'waiting'; readonly holdsStale: boolean }
  | (JudgedResponse & { readonly kind: 'sent' | 'withheld' })
  | (JudgedResponse & { readonly kind: 'revalidated'; readonly body: Buffer })
  /** The handler's 304 is about another response than the stored one. */
  | { readonly kind: 'mismatched'; readonly head: ResponseHead }

/**
 * True if a response of this status is withheld: a failure where a stale response may replace it, or the
 * answer to a revalidation.
 */
export function withholds(
  state: RecorderState,
  responseToRevalidate: RecordedResponse | undefined,
  status: number,
): boolean {
  const holdsStale = state.kind === 'waiting' && state.holdsStale
  return (holdsStale && status >= 500) || (responseToRevalidate !== undefined && status === 304)
}

/** The state once the handler has given this head. */
export function stateAfter(
  state: RecorderState,
  responseToRevalidate: RecordedResponse | undefined,
  head: ResponseHead,
  judge: (head: ResponseHead) => Judgement,
): RecorderState {
  if (!withholds(state, responseToRevalidate, head.status)) return { kind: 'sent', head, judgement: judge(head) }
  if (responseToRevalidate === undefined || head.status !== 304)
    return { kind: 'withheld', head, judgement: judge(head) }
  if (!confirms(head, responseToRevalidate)) return { kind: 'mismatched', head }
  const confirmed = freshened(head, responseToRevalidate)
  return { kind: 'revalidated', head: confirmed, judgement: judge(confirmed), body: responseToRevalidate.body }
}

/** The state once no stale response can replace the handler's any more. */
export function stateWithoutStale(state: RecorderState): RecorderState {
  if (state.kind === 'waiting') return { kind: 'waiting', holdsStale: false }
  return state.kind === 'withheld' ? { ...state, kind: 'sent' } : state
}
