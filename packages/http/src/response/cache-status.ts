import type { Lookup } from '@cattlegrid/core'
import type { IneligibleReason, UnkeyedInput } from '../request/eligible.ts'
import type { Judgement } from './storable.ts'

/** A member of the list `Cache-Status` (RFC 9211), without the cache's name. */
export type Member = string

/** Why a request was forwarded to its handler. */
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
  | 'no-store'
  | 'set-cookie'
  | 'head'
  | 'collapsed'

/** The first member is the nearest to the origin. */
export function appendMember(existing: string | readonly string[] | undefined, name: string, member: Member): string {
  const before = existing === undefined || existing.length === 0 ? '' : `${String(existing)}, `
  return `${before}${name}; ${member}`
}

export function bypassMember(why: BypassReason): Member {
  if (why === 'collapsed') return 'fwd=uri-miss; collapsed=?0'
  if (why === 'no-store') return 'fwd=request'
  return why === 'method' ? 'fwd=method' : `fwd=bypass; detail=${why}`
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

/** The member of a response from an entry, or from the load that the request waited for. */
export function servedMember(
  { status, role, freshFor, waited }: Pick<Lookup<unknown>, 'status' | 'role' | 'freshFor' | 'waited'>,
  masked: MaskedFailure | undefined,
): Member {
  const ttl = `ttl=${seconds(freshFor)}`
  if (status === 'stale') {
    // A stale response that is served without waiting is stale-while-revalidate; after a wait it masks a failure, or a slow load.
    if (masked === undefined && waited === 0) return `hit; ${ttl}; detail=stale-while-revalidate`
    const fwdStatus = masked?.status === undefined ? '' : `fwd-status=${masked.status}; `
    return `fwd=stale; ${fwdStatus}${ttl}; detail=stale-if-error`
  }
  if (role === 'none') return `hit; ${ttl}`
  return freshFor > 0 ? `fwd=uri-miss; collapsed; ${ttl}` : 'fwd=uri-miss; collapsed'
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
