import type { Directives } from '../fields/cache-control.ts'
import { type Lifetime, lifetimeOf, type LifetimePolicy, NEGATIVE_STATUSES, TTL_STATUSES } from './lifetime.ts'
import { linesOf } from '../fields/header-fields.ts'
import type { Ambiguity } from '../request/single-fields.ts'
import type { ResponseHead } from './response-head.ts'
import { type EffectiveDirectives, effectiveDirectives } from '../fields/targeted-fields.ts'
import { varyForbids, varyNames } from './vary.ts'

/** Why a response is not stored, as a detail of `Cache-Status`. */
export type Unstorable =
  | 'set-cookie'
  | 'no-store'
  | 'private'
  | 'no-cache'
  | 'vary'
  | 'vary-star'
  | 'status'
  | 'no-freshness'
  | 'too-large'
  | 'endless'
  | 'partial'
  | 'incomplete'
  | 'hijacked'
  | 'timeout'
  | 'unleased'
  | 'authorization'
  | 'personal'
  | 'handler'
  | 'outer-value'
  | 'tags'
  | 'unkeyed-url'
  | 'audit'
  | Ambiguity

/** The decision by a head alone: the response is stored, shared, or for its own client. */
export type Judgement =
  | { readonly kind: 'store'; readonly lifetime: Lifetime }
  /** Not stored, but shared with the requests that wait for it. */
  | { readonly kind: 'share'; readonly why: Unstorable }
  /** For the client of the request only. `temporary`: the reason holds for this moment only. */
  | { readonly kind: 'unshareable'; readonly why: Unstorable; readonly temporary?: boolean | undefined }
  /** The handler failed. `share`: waiting requests may get its response. */
  | { readonly kind: 'fail'; readonly share: boolean }

/** The options and the facts by which a response is judged. Durations in ms. */
export interface StoragePolicy extends LifetimePolicy {
  /** A response of this URL was stored before: responses of the URL can be shared. */
  readonly storedBefore: boolean
  readonly maxBodyBytes: number
  /**
   * The request has credentials that its key does not hold: a response must allow storing (RFC 9111
   * section 3.5).
   */
  readonly unkeyedCredentials: boolean
  /** Stores a response that must be revalidated before each use, if it has a validator. Default: false. */
  readonly revalidates?: boolean | undefined
  /** The target list (RFC 9213): fields that count before `Cache-Control`, lower-case. */
  readonly targets: readonly string[]
  /** `Set-Cookie` does not forbid storing; the field itself is not stored. */
  readonly stripSetCookie: boolean
  /** Names in `Vary` that do not forbid storing, lower-case. */
  readonly varyOn: readonly string[]
}

/**
 * About the client, not the resource: never shared (401, 407: credentials; 403: permissions; 429, 431: the
 * client's own behaviour).
 */
const PERSONAL_STATUSES = new Set([401, 403, 407, 429, 431])
/** The statuses that this cache understands, for `must-understand`. */
const UNDERSTOOD_STATUSES = new Set([...TTL_STATUSES, ...NEGATIVE_STATUSES, 302, 303, 307, 405, 414, 501])
const PROHIBITIONS = ['no-store', 'private', 'no-cache'] as const
type Prohibition = (typeof PROHIBITIONS)[number]
/** 1 ms is the shortest ttl of the engine. */
const VALIDATED_ONLY: Lifetime = { ttl: 1, staleWhileRevalidate: 0, staleIfError: 0, validatedOnly: true }
const ENDLESS = /^\s*(?:text\/event-stream|multipart\/x-mixed-replace)/i

/** RFC 9111 section 3. In doubt, a response is neither stored nor shared. */
export function judge(head: ResponseHead, policy: StoragePolicy, now: number): Judgement {
  const effective = effectiveDirectives(head.fields, policy.targets)
  const forbidden = forbiddenIn(head, effective, policy)
  const prohibition = prohibitionOf(head, effective, forbidden, policy)
  // Without a ttl and a stored response, nothing shows that this URL can be shared: a 5xx is no failure, and
  // is stored only if it declares a lifetime itself.
  const shareable = policy.ttl !== undefined || policy.storedBefore
  if (head.status >= 500 && shareable) return { kind: 'fail', share: prohibition === undefined }
  if (prohibition !== undefined) return { kind: 'unshareable', why: prohibition }
  const lifetime = lacksOwnLifetime(head, policy) ? undefined : lifetimeOf(head, effective, policy, now)
  if (isKeptToValidate(head, forbidden, policy, lifetime)) return { kind: 'store', lifetime: VALIDATED_ONLY }
  if (lifetime !== undefined && lifetime.ttl >= 1) return { kind: 'store', lifetime }
  if (head.status >= 500) return { kind: 'unshareable', why: 'status' }
  if (head.status >= 400) return { kind: shareable ? 'share' : 'unshareable', why: 'status' }
  return { kind: 'unshareable', why: TTL_STATUSES.has(head.status) ? 'no-freshness' : 'status' }
}

/** True for an error whose freshness fields were set for the success that it replaces. */
function lacksOwnLifetime({ fields, errorFields }: ResponseHead, { ttl, targets }: StoragePolicy): boolean {
  if (errorFields === undefined || ttl !== undefined) return false
  return [...targets, 'cache-control', 'expires'].some((name) => name in fields && !errorFields.has(name))
}

/** A prohibition counts whichever layer set it. */
function prohibitionOf(
  head: ResponseHead,
  { directives }: EffectiveDirectives,
  forbidden: readonly Prohibition[],
  policy: StoragePolicy,
): Unstorable | undefined {
  const { fields, status, outer = {} } = head
  if (!policy.stripSetCookie && ('set-cookie' in fields || 'set-cookie' in outer)) return 'set-cookie'
  const refused = forbidden.find((name) => name !== 'no-cache' || !canBeValidated(head, policy))
  if (refused !== undefined) return refused
  if (policy.unkeyedCredentials && !allowsAuthorized(directives)) return 'authorization'
  const varies = varyForbids([...new Set([...varyNames(fields), ...varyNames(outer)])], policy.varyOn)
  if (varies !== undefined) return varies
  if (status === 206) return 'partial'
  if (status < 200 || status === 304 || PERSONAL_STATUSES.has(status) || 'www-authenticate' in fields) return 'status'
  if (directives.has('must-understand') && !UNDERSTOOD_STATUSES.has(status)) return 'status'
  if (ENDLESS.test(linesOf(fields, 'content-type')[0] ?? '')) return 'endless'
  return (head.bodyLength ?? Number(linesOf(fields, 'content-length')[0] ?? 0)) > policy.maxBodyBytes
    ? 'too-large'
    : undefined
}

function canBeValidated({ status, fields }: ResponseHead, { revalidates = false }: StoragePolicy): boolean {
  return revalidates && status === 200 && ('etag' in fields || 'last-modified' in fields)
}

/**
 * True if the response is stored for revalidation only: it has `no-cache`, or arrived expired (RFC 9111
 * sections 4 and 5.2.2.4).
 */
function isKeptToValidate(
  head: ResponseHead,
  forbidden: readonly Prohibition[],
  policy: StoragePolicy,
  lifetime: Lifetime | undefined,
): boolean {
  const expired = policy.ttl === undefined && lifetime !== undefined && lifetime.ttl < 1
  return canBeValidated(head, policy) && (forbidden.includes('no-cache') || expired)
}

/** RFC 9111 section 3.5. */
function allowsAuthorized(directives: Directives): boolean {
  return ['public', 'must-revalidate', 's-maxage'].some((name) => directives.has(name))
}

/** The prohibitions of the recorded response, and those of the layers outside. */
function forbiddenIn(
  { status, outer }: ResponseHead,
  { directives }: EffectiveDirectives,
  { targets }: StoragePolicy,
): readonly Prohibition[] {
  const own = prohibitionsIn(directives, status)
  if (outer === undefined) return own
  return [...own, ...prohibitionsIn(effectiveDirectives(outer, targets).directives, status)]
}

/**
 * The argument is ignored: `private="x-name"` counts as `private` (RFC 9111 section 5.2.2.7). `no-store` has
 * no effect beside `must-understand` (RFC 9111 section 5.2.2.3).
 */
function prohibitionsIn(directives: Directives, status: number): readonly Prohibition[] {
  const understood = directives.has('must-understand') && UNDERSTOOD_STATUSES.has(status)
  return PROHIBITIONS.filter((name) => directives.has(name) && !(name === 'no-store' && understood))
}
