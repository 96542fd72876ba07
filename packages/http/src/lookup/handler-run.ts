import { conditionsOf } from '../response/conditional.ts'
import { type Exchange, rewriteUrlUntilEnd } from '../exchange.ts'
import { recorderFor } from './handler-recorder.ts'
import { isStoredBefore, type LoadTask } from './loaded-response.ts'
import { cdnLoopField } from '../request/loop-detection.ts'
import { normaliseRequest } from '../request/normalise.ts'
import { isKeyed } from '../request/query.ts'
import { keyedHost } from '../request/request-key.ts'
import type { RecordedResponse } from '../response/recorded-response.ts'
import type { Recorder } from '../capture/recorder.ts'
import type { RecordingResult } from '../capture/recording-result.ts'
import type { RequestContext } from './request-context.ts'
import { validatorsOf } from '../response/revalidate.ts'
import type { Route } from '../route/route.ts'
import { holdsUsableStale, responseToRevalidateOf } from './stale-response.ts'

/**
 * Runs the request's own handler for a load; resolves to the response that it gave. `onStart` is called right before the handler runs: if
 * anything throws earlier, the handler has not answered, and the caller still can.
 */
export function runHandler<Req, Res>(
  exchange: Exchange<Req, Res>,
  route: Route<Req, Res>,
  context: RequestContext,
  task: LoadTask,
  onStart: (recorder: Recorder) => void,
): Promise<RecordingResult> {
  const { load, loadId, forwarded, collapseFailed } = task
  const { urlTag, unkeyedCredentials } = context
  const responseToRevalidate = responseToRevalidateOf(load, route)
  const conditions = conditionsOf(exchange.req.headers)
  // Before the recorder, which notices reads of the request.
  prepareRequest(exchange, route, context, loadId, responseToRevalidate)
  const recorder = recorderFor(exchange, route, {
    holdsStale: holdsUsableStale(load),
    leased: load.leased,
    conditions,
    storedBefore: isStoredBefore(forwarded),
    unkeyedCredentials,
    urlTag,
    responseToRevalidate,
    forwarded,
    collapseFailed,
  })
  load.signal.addEventListener('abort', () => recorder.abort('failure'), { once: true })
  onStart(recorder)
  exchange.run(recorder)
  return recorder.done
}

/** Shows the handler only what the key holds, the validators of the stored response, and the id of the load. */
function prepareRequest(
  exchange: Exchange,
  { query, hidden, keyRule }: Pick<Route, 'query' | 'hidden' | 'keyRule'>,
  { keyedUrl }: RequestContext,
  loadId: string,
  responseToRevalidate: RecordedResponse | undefined,
): void {
  const validators = responseToRevalidate === undefined ? {} : validatorsOf(responseToRevalidate)
  const added = { ...validators, ...cdnLoopField(exchange.req.headers, loadId) }
  const { scheme, target, routed = target } = exchange
  const host = keyedHost(exchange.host, keyRule) || exchange.host
  const path = keyedUrl(target)
  normaliseRequest(exchange.req, { host, scheme, path, hidden, added })
  const isInKey = path === target && (routed === target || keyedUrl(routed) === routed)
  if (query.kind === 'all' && isInKey) return
  rewriteUrlUntilEnd(exchange, {
    url: keyedUrl,
    keeps: query.kind === 'all' ? undefined : (name) => isKeyed(name, query),
  })
}
