import type { Answer } from './response/answer.ts'
import { type Demand, NO_DEMAND } from './request/client-directives.ts'
import type { Exchange } from './exchange.ts'
import { hitInProcess, hitInStore } from './lookup/hit.ts'
import { invalidateAfter, isUnsafe } from './purge/invalidate.ts'
import { recorderFor } from './lookup/handler-recorder.ts'
import { isLoop, removeLoopMembers } from './request/loop-detection.ts'
import { observe } from './observe/observe.ts'
import { bypass } from './lookup/bypass.ts'
import { clientDemand, keyedRequestOf, originalMethodOf, requestContextOf, urlTagOf } from './lookup/request-context.ts'
import type { Route } from './route/route.ts'
import { type SubrequestMarker, subrequestMarkerOf } from './lookup/subrequest.ts'
import { CachedRequest } from './lookup/cached-request.ts'

/**
 * Answers one request, in this order: the request's key and its hit (here), `CachedRequest`, `Leader`, its handler, the recorder of the
 * handler's response, the rules of storing, the commit, `present`. Calls exactly one of the exchange's `pass`, `run`, `send` and `fail`, or
 * `run` and then `send` or `fail`. Never throws.
 */
export function serve<Req, Res>(exchange: Exchange<Req, Res>, route: Route<Req, Res>): void {
  const marker = subrequestMarkerOf(exchange.req)
  if (marker !== undefined) return recordSubrequest(marker, exchange, route)
  const keyed = keyedRequestOf(exchange, route, clientDemand)
  if (typeof keyed === 'string') {
    if (keyed === 'method') invalidateIfUnsafe(exchange, route)
    return bypass(exchange, route, keyed)
  }
  if (route.mode === 'observe') return observe(exchange, route, requestContextOf(exchange, route, keyed))
  if (keyed.demand.maxAge === undefined && trySendHit(exchange, route, keyed.key)) return undefined
  if (isLoop(exchange.req, keyed.key)) {
    removeLoopMembers(exchange.req)
    return bypass(exchange, route, 'loop')
  }
  void new CachedRequest(exchange, route, requestContextOf(exchange, route, keyed)).run()
}

/** Serves a fresh entry, and calls `onMiss` where there is none: for a phase in which no handler can run yet. Never throws. */
export function serveStored<Req, Res>(exchange: Exchange<Req, Res>, route: Route<Req, Res>, onMiss: () => void): void {
  if (subrequestMarkerOf(exchange.req) !== undefined || route.mode === 'observe') return onMiss()
  const keyed = keyedRequestOf(exchange, route, noDemand)
  if (typeof keyed === 'string') return onMiss()
  if (trySendHit(exchange, route, keyed.key)) return undefined
  const sendOrMiss = (hit?: Answer): void => {
    // A time-out outside may have answered meanwhile.
    if (!exchange.res.headersSent && !trySend(exchange, hit)) onMiss()
  }
  void hitInStore(exchange, route, keyed.key).then(sendOrMiss, () => sendOrMiss())
}

function noDemand(): Demand {
  return NO_DEMAND
}

/** RFC 9111 section 4.4: an unsafe method invalidates what is stored of its URL. */
function invalidateIfUnsafe(exchange: Exchange, route: Route): void {
  const method = originalMethodOf(exchange) ?? exchange.req.method ?? ''
  if (route.invalidateOnUnsafe && isUnsafe(method)) invalidateAfter(exchange, route, route.query)
}

function trySendHit<Req, Res>(exchange: Exchange<Req, Res>, route: Route<Req, Res>, key: string): boolean {
  // An outer layer may have answered, and passed the request on all the same.
  return !exchange.res.headersSent && trySend(exchange, hitInProcess(exchange, route, key))
}

/** Sends a hit and returns true where there is one. An outer layer may throw at it: the request goes on if no byte went out. */
function trySend(exchange: Exchange, hit: Answer | undefined): boolean {
  if (hit === undefined) return false
  try {
    exchange.send(hit)
    return true
  } catch {
    if (exchange.res.headersSent) exchange.res.destroy()
    return exchange.res.headersSent
  }
}

/** Records the handler of a subrequest that reached the layer that sent it; passes it on at any other layer. */
function recordSubrequest<Req, Res>(
  marker: SubrequestMarker,
  exchange: Exchange<Req, Res>,
  route: Route<Req, Res>,
): void {
  if (marker.layer !== exchange.layer) return exchange.pass()
  const recorder = recorderFor(exchange, route, {
    holdsStale: false,
    leased: true,
    storedBefore: true,
    authorized: false,
    urlTag: urlTagOf(exchange, route),
    revalidates: marker.revalidates,
    forwarded: 'stale',
    collapseFailed: false,
  })
  marker.onReached(recorder)
  exchange.run(recorder)
}
