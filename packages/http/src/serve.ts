import type { Answer } from './response/answer.ts'
import { type Demand, demandOf, NO_DEMAND } from './request/client-directives.ts'
import { type Bypass, bypassOf, type Candidate, leadsNobody, originForm } from './request/eligible.ts'
import { type Exchange, reshapeUntilEnd } from './exchange.ts'
import { hitAtHand, hitInStore } from './lookup/hit.ts'
import { invalidateAfter, isUnsafe } from './purge/invalidate.ts'
import type { RequestContext } from './lookup/leader.ts'
import { recorderFor } from './lookup/load-result.ts'
import { comesFromItself, endLoop } from './request/loop-detection.ts'
import { observe } from './observe/observe.ts'
import { bypass } from './lookup/bypass.ts'
import { withQuery } from './request/query.ts'
import { keyedValues, requestKey, spelled, urlTag } from './request/request-key.ts'
import type { Route } from './route/route.ts'
import { type SubrequestMarker, subrequestMarkerOf } from './lookup/subrequest.ts'
import { CachedRequest } from './lookup/cached-request.ts'

/**
 * The road of one request: normalise → eligible → request-key → hit → lookup → (leader) handler → capture → storable → serve. In the end the
 * exchange was told once to pass, to run, to send or to fail. Never throws.
 */
export function serve<Req, Res>(exchange: Exchange<Req, Res>, route: Route<Req, Res>): void {
  const mark = subrequestMarkerOf(exchange.req)
  if (mark !== undefined) return recordSubrequest(mark, exchange, route)
  const candidate = candidateOf(exchange)
  const reason = bypassFor(candidate, exchange, route)
  if (reason === 'method' && route.invalidateOnUnsafe && isUnsafe(candidate.originalMethod ?? candidate.method))
    invalidateAfter(exchange, route, route.query)
  if (reason !== undefined || !takesOriginForm(exchange, route))
    return bypass(exchange, route, reason ?? 'absolute-form')
  const demand = route.obeysClient(exchange.request) ? demandOf(exchange.req.headers) : NO_DEMAND
  if (demand.noStore) return bypass(exchange, route, 'no-store')
  const key = keyOf(exchange, route)
  if (key.kind === 'none') return bypass(exchange, route, key.why)
  if (route.mode === 'observe') return observe(exchange, route, contextOf(exchange, route, key, demand, candidate))
  if (demand.maxAge === undefined && sendsHit(exchange, route, key.key)) return undefined
  if (comesFromItself(exchange.req, key.key)) {
    endLoop(exchange.req)
    return bypass(exchange, route, 'loop')
  }
  void new CachedRequest(exchange, route, contextOf(exchange, route, key, demand, candidate)).run()
}

/**
 * Serves what is stored and fresh, and calls `onward` where that is not to be had. For a phase in which no handler can run yet. Never throws.
 */
export function serveStored<Req, Res>(exchange: Exchange<Req, Res>, route: Route<Req, Res>, onward: () => void): void {
  const bypassed =
    subrequestMarkerOf(exchange.req) !== undefined || bypassFor(candidateOf(exchange), exchange, route) !== undefined
  if (bypassed || route.mode === 'observe' || !takesOriginForm(exchange, route)) return onward()
  const key = keyOf(exchange, route)
  if (key.kind === 'none') return onward()
  if (sendsHit(exchange, route, key.key)) return undefined
  const go = (hit?: Answer): void => (sends(exchange, hit) ? undefined : onward())
  void hitInStore(exchange, route, key.key).then(go, () => go())
}

function sendsHit<Req, Res>(exchange: Exchange<Req, Res>, route: Route<Req, Res>, key: string): boolean {
  // A layer outside may have answered, and let the request go on all the same.
  return !exchange.res.headersSent && sends(exchange, hitAtHand(exchange, route, key))
}

/** Whether the request is answered now. A layer outside may refuse the answer: where nothing of it went out, the request goes on. */
function sends(exchange: Exchange, hit: Answer | undefined): boolean {
  if (hit === undefined) return false
  try {
    exchange.send(hit)
    return true
  } catch {
    if (exchange.res.headersSent) exchange.res.destroy()
    return exchange.res.headersSent
  }
}

type KeyOf =
  | { readonly kind: 'key'; readonly key: string; readonly target: string; readonly authorized: boolean }
  | { readonly kind: 'none'; readonly why: 'key-failed' | 'key-too-long' }

function keyOf<Req, Res>(exchange: Exchange<Req, Res>, route: Route<Req, Res>): KeyOf {
  const { scheme, host, layer, decodesPath, matched, req, request, routed: seen } = exchange
  const target = withQuery(exchange.target, route.query)
  const routed = seen === undefined ? undefined : withQuery(seen, route.query)
  const own = route.extra(request)
  if (own === null) return { kind: 'none', why: 'key-failed' }
  const { authorization } = req.headers
  const authorized = authorization !== undefined && route.admission.authorization === 'declared'
  const credentials = route.admission.authorization === 'key' ? authorization : authorized ? 'any' : undefined
  const extra = [credentials, own, ...keyedValues(route.keyed, req.headers)]
  const parts = { scheme, host, target, routed, matched, layer, decodesPath, extra }
  // What may be somebody's secret is remembered nowhere.
  const secret = (credentials !== undefined && !authorized) || route.keyed.cookies.length > 0
  const key = secret ? requestKey(parts) : route.keys.keyOf(parts)
  return key === undefined ? { kind: 'none', why: 'key-too-long' } : { kind: 'key', key, target, authorized }
}

function contextOf<Req, Res>(
  exchange: Exchange<Req, Res>,
  route: Route<Req, Res>,
  { key, target, authorized }: KeyOf & { readonly kind: 'key' },
  demand: Demand,
  candidate: Candidate,
): RequestContext {
  // A cookie that a layer outside sets is this client's alone, but says nothing about the others.
  const alone = leadsNobody(candidate) || exchange.field('set-cookie') !== undefined
  const { matched, decodesPath } = exchange
  const shape = (url: string): string => spelled(withQuery(url, route.query), { matched, decodesPath })
  return { key, target, shape, urlTag: tagOf(exchange, route), authorized, alone, demand }
}

/** Of the URL as it is now: a leader's handler may be shown it in another shape. Made once, when it is first asked for. */
function tagOf(
  exchange: Exchange,
  { invalidateOnUnsafe, query }: Pick<Route, 'invalidateOnUnsafe' | 'query'>,
): () => string | undefined {
  if (!invalidateOnUnsafe) return () => undefined
  const { scheme, host, target } = exchange
  let made: string | undefined
  return () => (made ??= urlTag({ scheme, host, target: withQuery(target, query) }))
}

function bypassFor<Req, Res>(
  candidate: Candidate,
  { request }: Exchange<Req, Res>,
  route: Route<Req, Res>,
): Bypass | undefined {
  if (!route.enabled(request)) return 'disabled'
  const reason = bypassOf(candidate, route.admission) ?? (route.skip(request) ? 'skip' : undefined)
  return reason ?? (route.cache.paused ? 'paused' : undefined)
}

/** RFC 9112 section 3.2.2: an absolute target is taken as its path. The handler must not see the text that the key does not hold. */
function takesOriginForm(exchange: Exchange, { mode }: Pick<Route, 'mode'>): boolean {
  if (originForm(exchange.target) === exchange.target) return true
  if (mode === 'observe') return false
  return reshapeUntilEnd(exchange, { url: originForm })
}

/** A request of our own has come back to the layer that sent it, or is still on its way there. */
function recordSubrequest<Req, Res>(
  mark: SubrequestMarker,
  exchange: Exchange<Req, Res>,
  route: Route<Req, Res>,
): void {
  if (mark.layer !== exchange.layer) return exchange.pass()
  const recorder = recorderFor(exchange, route, {
    holdsStale: false,
    leased: true,
    proven: true,
    authorized: false,
    urlTag: tagOf(exchange, route),
    revalidates: mark.revalidates,
    forwarded: 'stale',
    waited: false,
  })
  mark.begin(recorder)
  exchange.run(recorder)
}

function candidateOf({ req, target, host }: Exchange): Candidate {
  const { originalMethod } = req as { readonly originalMethod?: unknown }
  const wire = typeof originalMethod === 'string' ? originalMethod : undefined
  return { method: req.method ?? '', originalMethod: wire, headers: req.headers, target: originForm(target), host }
}
