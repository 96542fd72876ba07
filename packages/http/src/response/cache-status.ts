import type { Lookup } from '@cattlegrid/core'
import type { IneligibleReason, UnkeyedInput } from '../request/eligible.ts'
import type { Judgement } from './storable.ts'

/** A member of the list `Cache-Status` (RFC 9211), without the cache's name. */
export type Member = string

/**
 * Why no stored response was served (RFC 9211 section 2.2). `uri-miss`: none of the URL is stored, as far as the cache knows. `vary-miss`: none of this
 * request's variant. `stale`: it is stale. `request`: it is older than the client accepts.
 */
export type Forwarded = 'uri-miss' | 'vary-miss' | 'stale' | 'request'

/** Why a request bypasses the cache. `collapsed`: it waited for a response that it may not get. */
export type BypassReason =
  | IneligibleReason
  | UnkeyedInput
  | 'disabled'
  | 'skip'
  | 'paused'
  | 'loop'
  | 'key-failed'
  | 'key-too-long'
  | 'read-only'
  | 'no-store'
  | 'set-cookie'
  | 'head'
  | 'collapsed'

/** The first member is the nearest to the origin. */
export function appendMember(existing: string | readonly string[] | undefined, name: string, member: Member): string {
  const before = existing === undefined || existing.length === 0 ? '' : `${String(existing)}, `
  return `${before}${name}; ${member}`
}

/** @param forwarded for `collapsed`: why the request waited. */
export function bypassMember(why: BypassReason, forwarded: Forwarded): Member {
  if (why === 'collapsed') return `fwd=${forwarded}; collapsed=?0`
  if (why === 'no-store') return 'fwd=request'
  return why === 'method' ? 'fwd=method' : `fwd=bypass; detail=${why}`
}

/** The member of an observed request, which bypasses the cache: what the cache would have done, and why. */
export function observedMember({ would, why }: { readonly would: string; readonly why: string | undefined }): Member {
  return `fwd=bypass; detail=would-${would}${why === undefined ? '' : `/${why}`}`
}

/** How a request came to run its own handler. */
export interface MissReason {
  readonly forwarded: Forwarded
  /** The request waited for another one's response, which it may not get: `collapsed=?0` (RFC 9211 section 2.6). */
  readonly collapseFailed: boolean
}

/** The member in a leader's own head. `certain`: nothing can prevent the storing any more; only then it says `stored`. */
export function leaderMember(
  judgement: Judgement,
  { forwarded, collapseFailed }: MissReason,
  certain: boolean,
): Member {
  const forward = `fwd=${forwarded}${collapseFailed ? '; collapsed=?0' : ''}`
  if (judgement.kind === 'store')
    return certain ? `${forward}; stored; ttl=${seconds(judgement.lifetime.ttl)}` : forward
  // The response that this request waited for has the reason.
  return collapseFailed ? forward : `${forward}; detail=${judgement.kind === 'fail' ? 'status' : judgement.why}`
}

/** A handler's failure that a stale response replaces. */
export interface MaskedFailure {
  /** undefined: the handler sent no status. */
  readonly status: number | undefined
}

/** The member of a response that is served from an entry without waiting; for a stale one the ttl is negative. */
export function hitMember(freshFor: number): Member {
  return `hit; ttl=${seconds(freshFor)}`
}

/** The kind of a response from the cache; `Server-Timing` has it. `miss`: a subrequest brought the response for this request. */
export type ServedKind = 'hit' | 'stale' | 'collapsed' | 'revalidated' | 'miss'

/** The kind of a response that a lookup brought: from an entry, or from a load that was not the request's own handler. */
export function servedKind({
  status,
  role,
}: Pick<Lookup<unknown>, 'status' | 'role'>): Exclude<ServedKind, 'revalidated'> {
  if (status === 'stale') return 'stale'
  if (role === 'none') return 'hit'
  return role === 'leader' ? 'miss' : 'collapsed'
}

/** The member of such a response. */
export function servedMember(
  lookup: Pick<Lookup<unknown>, 'status' | 'role' | 'freshFor' | 'waited' | 'outcome'>,
  forwarded: Forwarded,
  masked: MaskedFailure | undefined,
): Member {
  const { freshFor, waited, outcome } = lookup
  const ttl = `ttl=${seconds(freshFor)}`
  switch (servedKind(lookup)) {
    case 'hit':
      return hitMember(freshFor)
    case 'stale': {
      // A stale response that is served without waiting is stale-while-revalidate; after a wait it masks a failure, or a slow load.
      if (masked === undefined && waited === 0) return `${hitMember(freshFor)}; detail=stale-while-revalidate`
      const fwdStatus = masked?.status === undefined ? '' : `fwd-status=${masked.status}; `
      return `fwd=stale; ${fwdStatus}${ttl}; detail=stale-if-error`
    }
    case 'miss':
      return outcome?.kind === 'committed' ? `fwd=${forwarded}; stored; ${ttl}` : `fwd=${forwarded}`
    case 'collapsed':
      return freshFor > 0 ? `${collapsedMember(forwarded)}; ${ttl}` : collapsedMember(forwarded)
  }
}

/** The member of a response that is shared with the requests that waited for it, and not stored. */
export function collapsedMember(forwarded: Forwarded): Member {
  return `fwd=${forwarded}; collapsed`
}

/** The member of a leader whose handler answered 304. `status` 200: that 304 did not match, and a subrequest got a new response. */
export function revalidatedMember(
  lookup: Pick<Lookup<unknown>, 'status' | 'freshFor'> | undefined,
  status: 200 | 304 = 304,
): Member {
  const stored = lookup?.status === 'loaded' && lookup.freshFor > 0
  const forwarded = `fwd=stale; fwd-status=${status}`
  return stored ? `${forwarded}; stored; ttl=${seconds(lookup.freshFor)}` : forwarded
}

/** Rounded down, so that the ttl of a stale response is negative. */
function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000)
}
