import { initialAge } from './age.ts'
import { type DeclaredFreshness, declaredFreshness } from './freshness.ts'
import type { ResponseHead } from './response-head.ts'
import type { EffectiveDirectives } from '../fields/targeted-fields.ts'

/** How long a stored response may be used, ms. */
export interface Lifetime {
  readonly ttl: number
  /**
   * When `ttl` began, by the time of day of the judgement, where the response declares it; undefined: `ttl`
   * begins with the commit.
   */
  readonly since?: number | undefined
  readonly staleWhileRevalidate: number
  readonly staleIfError: number
  readonly tags?: readonly string[] | undefined
  /** The handler must revalidate the response before each use. */
  readonly validatedOnly?: boolean | undefined
}

/** The options and the facts that decide a lifetime. Durations in ms. */
export interface LifetimePolicy {
  /** undefined: the lifetime that the response declares. NaN, or less than 1: not stored. */
  readonly ttl: number | undefined
  /** The ttl that the handler gave for this response, whatever its status, ms. */
  readonly givenTtl?: number | undefined
  readonly negativeTtl: number
  readonly staleWhileRevalidate: number
  readonly staleIfError: number
  /** When the handler was called, by the clock of `now`. Default: `now`. */
  readonly began?: number | undefined
}

/** Stored with the route's ttl. */
export const TTL_STATUSES: ReadonlySet<number> = new Set([200, 203, 204, 300, 301, 308])
/** Stored for `negativeTtl`, against floods of requests for invented URLs. */
export const NEGATIVE_STATUSES: ReadonlySet<number> = new Set([404, 410])

/** The lifetime of a response by the route's policy and by what it declares; undefined: it has none. */
export function lifetimeOf(
  head: ResponseHead,
  effective: EffectiveDirectives,
  policy: LifetimePolicy,
  now: number,
): Lifetime | undefined {
  const declared = declaredFreshness(head.fields, effective, now)
  const ttl =
    policy.givenTtl ??
    (policy.ttl === undefined
      ? declaredTtl(head, declared, now, policy.began)
      : ttlByRoute(head, policy.ttl, policy, declared, now))
  if (ttl === undefined) return undefined
  // With a ttl, the route's windows count, except where the response forbids one.
  const window = (configured: number, inResponse: number | undefined): number =>
    inResponse === 0 ? 0 : policy.ttl === undefined ? (inResponse ?? configured) : configured
  const isDeclared =
    policy.givenTtl === undefined &&
    (policy.ttl === undefined || ![...TTL_STATUSES, ...NEGATIVE_STATUSES].includes(head.status))
  return {
    ttl,
    ...(isDeclared ? { since: now } : {}),
    staleWhileRevalidate: window(policy.staleWhileRevalidate, declared.staleWhileRevalidate),
    staleIfError: window(policy.staleIfError, declared.staleIfError),
  }
}

function ttlByRoute(
  head: ResponseHead,
  ttl: number,
  policy: LifetimePolicy,
  declared: DeclaredFreshness,
  now: number,
): number | undefined {
  if (TTL_STATUSES.has(head.status)) return ttl
  if (NEGATIVE_STATUSES.has(head.status)) return Math.min(ttl, policy.negativeTtl)
  // A temporary redirect concerns one request, unless it declares a lifetime.
  return [302, 303, 307].includes(head.status) ? declaredTtl(head, declared, now, policy.began) : undefined
}

/** The declared lifetime minus the age. */
function declaredTtl(
  head: ResponseHead,
  { lifetime }: DeclaredFreshness,
  now: number,
  began: number | undefined,
): number | undefined {
  return lifetime === undefined ? undefined : lifetime - initialAge(head.fields, now, began) * 1000
}
