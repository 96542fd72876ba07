import type { BypassReason } from '../response/cache-status.ts'
import { type RequestDirectives, requestDirectivesOf, NO_DIRECTIVES } from '../request/request-directives.ts'
import {
  type Candidate,
  ineligibleReason,
  isTrustedHost,
  originForm,
  type UnkeyedInput,
  unkeyedInputOf,
} from '../request/eligible.ts'
import type { Exchange } from './exchange.ts'
import { withQuery } from '../request/query.ts'
import { canonicalUrls, keyedHost, keyedValues, requestKey, urlTag as tagOfUrl } from '../request/request-key.ts'
import type { Ambiguity } from '../request/single-fields.ts'
import { readUnreported } from '../request/watched-fields.ts'
import type { Route } from '../route/route.ts'

/** A request that may use the cache, with everything that a hit needs. */
export interface KeyedRequest {
  /**
   * What the request shows. Read once: Express makes each of its requests and responses an object of a shape
   * of its own, and V8 searches them anew at each read.
   */
  readonly candidate: Candidate
  readonly directives: RequestDirectives
  readonly key: string
  /** The request-target without unkeyed parameters. */
  readonly target: string
  /**
   * The request has credentials that its key does not hold: it shares an entry with all other requests that
   * have some.
   */
  readonly unkeyedCredentials: boolean
}

/**
 * A keyed request that is observed or that no immediate hit answers. `serve` makes at most one for a request.
 */
export interface RequestContext extends Omit<KeyedRequest, 'candidate'> {
  readonly exchange: Exchange
  readonly route: Route
  /**
   * Why the response of this request's own handler goes to its own client only; undefined: others may get it.
   */
  readonly unshareable: UnkeyedInput | 'set-cookie' | undefined
  /** The request was chosen for an audit: its own handler answers, whatever is stored. Default: false. */
  readonly sampled?: boolean | undefined
  /** As in `Candidate`. */
  readonly hadAuthority: boolean
  /** Maps a URL to its form in the key: a handler whose response is recorded sees that form only. */
  readonly keyedUrl: (url: string) => string
  /**
   * Returns the tag of the URL's entries; undefined: they have none. Computed on the first call: most
   * requests store nothing.
   */
  readonly urlTag: () => string | undefined
}

/**
 * Makes the key of a request, or returns the reason why it bypasses the cache. Rewrites an absolute target to
 * its path, which stays until the response is finished where the request has a key. Calls `directivesFrom`
 * only for a request that may use the cache.
 */
export function keyedRequestOf(
  exchange: Exchange,
  route: Route,
  directivesFrom: (exchange: Exchange, route: Route) => RequestDirectives,
): KeyedRequest | BypassReason {
  const candidate = candidateOf(exchange)
  const reason = bypassReasonOf(candidate, exchange, route)
  if (reason !== undefined) return reason
  const directives = directivesFrom(exchange, route)
  if (directives.noStore) return 'no-store'
  const undo = toOriginForm(exchange, candidate, route)
  if (undo === undefined) return 'no-path'
  const keyed = withKey(exchange, route, candidate, directives)
  if (typeof keyed === 'string') undo()
  return keyed
}

/** The request directives, where the route obeys this client. */
export function honouredDirectives({ request, headers }: Exchange, route: Route): RequestDirectives {
  return route.obeysClient(request) ? requestDirectivesOf(headers) : NO_DIRECTIVES
}

export function requestContextOf(
  exchange: Exchange,
  route: Route,
  { candidate, directives, key, target, unkeyedCredentials }: KeyedRequest,
): RequestContext {
  // A cookie that an outer layer sets belongs to this client, and says nothing about other requests of
  // the URL.
  const outerCookie = exchange.field('set-cookie') === undefined ? undefined : 'set-cookie'
  const { keyRule, eligibility } = route
  const foreignHost = isTrustedHost(candidate, keyRule.host, eligibility.hosts) ? undefined : 'host'
  const unshareable = foreignHost ?? unkeyedInputOf(candidate) ?? keyedAmbiguity(exchange, route) ?? outerCookie
  const { matched, decodesPath } = exchange
  const canonical = canonicalUrls({ matched, decodesPath })
  const keyedUrl = (url: string): string => canonical(withQuery(url, route.query))
  const { hadAuthority = false } = candidate
  const urlTag = urlTagOf(candidate, route)
  const keyed = { key, target, unkeyedCredentials, directives }
  return { exchange, route, ...keyed, unshareable, hadAuthority, keyedUrl, urlTag }
}

/** Why the handler of this request may see another value of a keyed field or cookie than its key holds. */
function keyedAmbiguity(
  exchange: Exchange,
  { keyRule: { headers, cookies }, eligibility: { authorization } }: Pick<Route, 'keyRule' | 'eligibility'>,
): Ambiguity | undefined {
  const ofCredentials = authorization === 'key' || authorization === 'declared' ? ['authorization'] : []
  return exchange.ambiguityIn([...headers, ...ofCredentials], cookies)
}

/**
 * Reads the URL at once, because a leader's handler may get another spelling; hashes it on the first call.
 */
export function urlTagOf(
  requested: Pick<Exchange, 'scheme' | 'host' | 'target'>,
  { invalidateOnUnsafe, query, keyRule }: Pick<Route, 'invalidateOnUnsafe' | 'query' | 'keyRule'>,
): () => string | undefined {
  if (!invalidateOnUnsafe) return () => undefined
  const { scheme, target } = requested
  const host = keyedHost(requested.host, keyRule)
  let tag: string | undefined
  return () => (tag ??= tagOfUrl({ scheme, host, target: withQuery(target, query) }))
}

function candidateOf(exchange: Exchange): Candidate {
  const { method, originalMethod, headers, target: written, scheme, host } = exchange
  const target = originForm(written)
  return {
    method,
    originalMethod,
    headers,
    target,
    hadAuthority: target !== written,
    scheme,
    host,
  }
}

function bypassReasonOf(candidate: Candidate, exchange: Exchange, route: Route): BypassReason | undefined {
  const { request } = exchange
  if (!route.enabled(request)) return 'disabled'
  const ineligible = ineligibleReason(candidate, route.eligibility)
  if (ineligible !== undefined) return ineligible
  if (route.skip(request)) return 'skip'
  if (route.audit?.isStopped(exchange.place) === true) return 'audit'
  if (exchange.ownSerializer) return 'serializer'
  return route.cache.paused ? 'paused' : undefined
}

/**
 * RFC 9112 section 3.2.2: an absolute target counts as its path. The handler must not see the authority,
 * which the key does not hold. Returns a function that undoes it; undefined where it cannot be done.
 */
function toOriginForm(
  exchange: Exchange,
  { target }: Candidate,
  { mode }: Pick<Route, 'mode'>,
): (() => void) | undefined {
  if (target === exchange.target) return UNCHANGED
  return mode === 'observe' ? undefined : exchange.rewriteUntilEnd(originForm)
}

const UNCHANGED = (): void => undefined

function withKey(
  exchange: Exchange,
  route: Route,
  candidate: Candidate,
  directives: RequestDirectives,
): KeyedRequest | BypassReason {
  const { place, decodesPath, matched, routed } = exchange
  const { scheme, host, headers: fields } = candidate
  exchange.countAllowedReads(route.personalReads)
  const target = withQuery(candidate.target, route.query)
  const routeExtra = route.extra(exchange.request)
  if (routeExtra === null) return 'key-failed'
  const { authorization } = route.eligibility
  const unkeyedCredentials = authorization === 'declared' && readUnreported(fields, 'authorization') !== undefined
  const keyedCredentials = authorization === 'key' ? fields.authorization : undefined
  const parts = {
    scheme,
    host: keyedHost(host, route.keyRule),
    target,
    routed: routed === undefined ? undefined : withQuery(routed, route.query),
    matched,
    place,
    decodesPath,
    extra: [unkeyedCredentials ? 'any' : keyedCredentials, routeExtra, ...keyedValues(route.keyRule, fields)],
  }
  // The memo must hold no secrets: of a client's request nothing but the URL.
  const { headers, cookies } = route.keyRule
  const holdsValues =
    keyedCredentials !== undefined || routeExtra !== undefined || headers.length > 0 || cookies.length > 0
  const key = holdsValues ? requestKey(parts) : route.keys.keyOf(parts)
  return key === undefined ? 'key-too-long' : { candidate, directives, key, target, unkeyedCredentials }
}
