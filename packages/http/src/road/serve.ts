import type { Answer } from '../response/answer.ts'
import { type RequestDirectives, NO_DIRECTIVES } from '../request/request-directives.ts'
import type { Exchange } from './exchange.ts'
import { normalHost } from '../fields/normal-host.ts'
import { hitInProcess, hitInStore } from './hit.ts'
import { invalidateAfter, isUnsafe } from '../purge/invalidate.ts'
import { recorderFor } from './handler-recorder.ts'
import { isLoop, withoutLoopMembers } from '../request/loop-detection.ts'
import { hasPreconditions } from '../request/handler-input.ts'
import { observe } from '../observe/observe.ts'
import { bypass } from './bypass.ts'
import { honouredDirectives, keyedRequestOf, requestContextOf, urlTagOf } from './admission.ts'
import { forgetRequest, reportRequest } from './request-report.ts'
import type { Route } from '../route/route.ts'
import type { SubrequestMarker } from './subrequest.ts'
import { Responder } from './responder.ts'

/**
 * Answers one request: by a hit, by its handler, or by a `Responder`. Calls `pass` or `run` at most once.
 *
 * - After a `send` or `fail` that throws before the first byte, `pass` or `run` may follow.
 * - After `run`, `send` or `fail` follows only if the handler has sent nothing.
 * - It calls none if the client has disconnected, an outer layer answers while the cache waits, `onError`
 *   answers, or a subrequest is refused.
 *
 * @example
 * import { compileRoute, httpCache, nextDeclaration, serve } from '@cattlegrid/http'
 *
 * const http = httpCache(cache)
 * const route = compileRoute('cached', http, undefined, { ttl: '30s' })
 * const place = nextDeclaration(http)
 *
 * app.use((req, res, next) => serve(new MyExchange(req, res, place), route))
 */
export function serve<Req, Res>(exchange: Exchange<Req, Res>, route: Route<Req, Res>): void {
  const marker = exchange.subrequest
  if (marker !== undefined) return recordSubrequest(marker, exchange, route)
  reportRequest(exchange, route)
  const request = keyedRequestOf(exchange, route, honouredDirectives)
  if (typeof request === 'string') {
    if (request === 'method') invalidateIfUnsafe(exchange, route)
    return bypass(exchange, route, request)
  }
  if (route.mode === 'observe') {
    route.audit?.noteObserved(exchange)
    return observe(requestContextOf(exchange, route, request))
  }
  // An outer layer has answered, and has still passed the request on: its handler runs as without a cache.
  if (exchange.isAnswered) return exchange.pass()
  const sampled = route.audit?.samples(exchange) === true
  if (!sampled && request.directives.maxAge === undefined && trySendHit(exchange, route, request.key)) return undefined
  if (isLoop(exchange.headers, request.key)) {
    exchange.replaceFields(withoutLoopMembers(exchange.headers))
    return bypass(exchange, route, 'loop')
  }
  if (hasPreconditions(exchange) && route.notes.isUnstored(request.key)) return bypass(exchange, route, 'unstored')
  if (!exchange.hasReplaceableFields) return bypass(exchange, route, 'read-only')
  void new Responder({ ...requestContextOf(exchange, route, request), sampled }).respond()
}

/**
 * Sends a fresh entry, or calls `onMiss` if there is none or an outer layer has answered before; calls
 * neither if one answers while the store is read. For a phase in which no handler can run yet. Ignores
 * request directives.
 *
 * @example
 * import { compileRoute, httpCache, nextDeclaration, serveStored } from '@cattlegrid/http'
 *
 * const http = httpCache(cache)
 * const route = compileRoute('cached', http, undefined, { ttl: '30s', phase: 'onRequest' })
 * const place = nextDeclaration(http)
 *
 * app.use((req, res, next) => serveStored(new MyExchange(req, res, place), route, next))
 */
export function serveStored<Req, Res>(exchange: Exchange<Req, Res>, route: Route<Req, Res>, onMiss: () => void): void {
  if (exchange.subrequest !== undefined || route.mode === 'observe' || exchange.isAnswered) return onMiss()
  reportRequest(exchange, route)
  const miss = (): void => {
    forgetRequest(exchange)
    onMiss()
  }
  const request = keyedRequestOf(exchange, route, noDirectives)
  if (typeof request === 'string') return miss()
  if (!exchange.isAnswered && trySendHit(exchange, route, request.key)) return undefined
  const sendOrMiss = (hit?: Answer): void => {
    if (!exchange.isAnswered && !trySend(exchange, hit)) miss()
  }
  void hitInStore(exchange, route, request.key).then(sendOrMiss, () => sendOrMiss())
}

function noDirectives(): RequestDirectives {
  return NO_DIRECTIVES
}

/** An unsafe method invalidates the stored responses of its URL (RFC 9111 section 4.4). */
function invalidateIfUnsafe(exchange: Exchange, route: Route): void {
  const method = exchange.originalMethod ?? exchange.method
  if (route.invalidateOnUnsafe && isUnsafe(method)) invalidateAfter(exchange, route)
}

function trySendHit(exchange: Exchange, route: Route, key: string): boolean {
  return trySend(exchange, hitInProcess(exchange, route, key))
}

/**
 * True if the request is finished. If an outer layer throws before the first byte of a hit, the request
 * continues without the hit.
 */
function trySend(exchange: Exchange, hit: Answer | undefined): boolean {
  if (hit === undefined) return false
  try {
    exchange.send(hit)
    return true
  } catch {
    const isBegun = exchange.isAnswered
    if (isBegun) exchange.destroy()
    return isBegun
  }
}

/**
 * Runs and records the handler for a subrequest of this place; passes on a subrequest of another place. Its
 * key is made anew, because a response is stored only under the key of the request that its handler saw.
 */
function recordSubrequest(marker: SubrequestMarker, exchange: Exchange, route: Route): void {
  if (marker.place !== exchange.place || exchange.isAnswered) return exchange.pass()
  const request = keyedRequestOf(exchange, route, noDirectives)
  // The cache was switched off meanwhile, which says nothing about the key.
  if (request === 'paused' || request === 'disabled' || request === 'audit') return marker.onRefused('switched-off')
  if (typeof request === 'string' || request.key !== marker.key) return marker.onRefused('other-key')
  const recorder = recorderFor(exchange, route, {
    ...marker.facts,
    holdsStale: false,
    unkeyedCredentials: request.unkeyedCredentials,
    urlTag: urlTagOf(exchange, route),
  })
  const { host } = route.keyRule
  if (typeof host === 'string') showHost(exchange, normalHost(exchange.scheme, host))
  marker.onReached(recorder)
  exchange.run(recorder)
}

/** Shows the handler the fixed host of the key, in `Host` and `:authority`, whichever are present. */
function showHost(exchange: Exchange, host: string): void {
  const names = ['host', ':authority'].filter((name) => exchange.headers[name] !== undefined)
  exchange.replaceFields(new Map(names.map((name) => [name, host])))
}
