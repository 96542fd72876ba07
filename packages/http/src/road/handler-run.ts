import { onAbort } from '@cattlegrid/core/extend'
import { conditionsOf } from '../response/conditional.ts'
import type { Exchange } from './exchange.ts'
import { recorderFor } from './handler-recorder.ts'
import type { LoadTask } from './loaded-response.ts'
import { isStoredBefore } from './miss.ts'
import { cdnLoopField } from '../request/loop-detection.ts'
import { hasAllInKey } from '../request/query.ts'
import { keyedHost } from '../request/request-key.ts'
import type { RecordedResponse } from '../response/recorded-response.ts'
import type { Recorder } from '../recorder/recorder.ts'
import type { RecordingResult } from '../recorder/recording-result.ts'
import type { RequestContext } from './admission.ts'
import { validatorsOf } from '../response/revalidate.ts'
import { holdsUsableStale, responseToRevalidateOf } from './stale-response.ts'

/**
 * Runs the request's own handler for a load; resolves to the response that it gave. `onStart` is called right
 * before the handler runs: if anything throws earlier, the handler has not answered, and the caller
 * still can.
 */
export function runHandler(
  context: RequestContext,
  task: LoadTask,
  onStart: (recorder: Recorder) => void,
): Promise<RecordingResult> {
  const { load, forwarded, collapseFailed, times, unkeyedUrl, audited } = task
  const { exchange, route, urlTag, unkeyedCredentials } = context
  const responseToRevalidate = unkeyedUrl ? undefined : responseToRevalidateOf(load, route)
  const conditions = conditionsOf(exchange.headers)
  // Before the recorder, which notices reads of the request.
  prepareRequest(context, task, responseToRevalidate)
  const recorder = recorderFor(exchange, route, {
    holdsStale: holdsUsableStale(load),
    leased: load.leased,
    conditions,
    storedBefore: isStoredBefore(forwarded),
    unkeyedCredentials,
    unkeyedUrl,
    urlTag,
    responseToRevalidate,
    forwarded,
    collapseFailed,
    audited,
    key: load.key,
    times,
  })
  onAbort(load, () => recorder.abort('failure'))
  onStart(recorder)
  times.begin()
  exchange.run(recorder)
  return recorder.done
}

/**
 * True if the layers outside have seen the URL of the key, but for the order and the encoding of its
 * parameters, and the handler can be shown it. What layers have made of another URL, such as a default for a
 * parameter that the client gives, may be anywhere: the response may depend on it.
 */
export function seesKeyedUrl({ exchange, hadAuthority, keyedUrl }: RequestContext): boolean {
  const { target } = exchange
  if (hadAuthority || !hasAllInKey(target, keyedUrl(target))) return false
  return isInKey(exchange, keyedUrl) || exchange.canRewrite(keyedUrl)
}

/**
 * Shows the handler only what the key holds, the validators of the stored response, and the id of the load.
 * The URL stays where the response is not shared.
 */
function prepareRequest(
  { exchange, route: { hidden, keyRule }, keyedUrl }: RequestContext,
  { loadId, record, unkeyedUrl }: Pick<LoadTask, 'loadId' | 'record' | 'unkeyedUrl'>,
  responseToRevalidate: RecordedResponse | undefined,
): void {
  const validators = responseToRevalidate === undefined ? {} : validatorsOf(responseToRevalidate)
  const added = { ...validators, ...cdnLoopField(exchange.headers, loadId) }
  const host = keyedHost(exchange.host, keyRule) || exchange.host
  const path = keyedUrl(exchange.target)
  const rewrite = unkeyedUrl || isInKey(exchange, keyedUrl) ? undefined : keyedUrl
  const keyed = [...keyRule.headers, ...(record?.vary ?? [])]
  exchange.show({ host, scheme: exchange.scheme, path, hidden, keyed, added, rewrite })
}

/** True if the URL is that of the key, wherever the handler may read it. */
function isInKey({ target, routed = target }: Exchange, keyedUrl: (url: string) => string): boolean {
  return keyedUrl(target) === target && (routed === target || keyedUrl(routed) === routed)
}
