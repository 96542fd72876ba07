import type { Lookup } from '@cattlegrid/core'
import type { IneligibleReason } from '../request/eligible.ts'
import type { Judgement } from './storable.ts'

/** One cache's word on one answer: a member of the list `Cache-Status` (RFC 9211), without the cache's name. */
export type Member = string

/** Why a request had to go forward to its handler. */
export type Forwarded = 'uri-miss' | 'vary-miss' | 'stale' | 'request'

/** Why a request bypasses the cache. `collapsed`: it waited for a response that it may not have. */
export type BypassReason =
  | IneligibleReason
  | 'disabled'
  | 'skip'
  | 'paused'
  | 'loop'
  | 'key-failed'
  | 'key-too-long'
  | 'no-store'
  | 'body'
  | 'head'
  | 'collapsed'

/** Adds our member at the end: the first one is the nearest to the origin. */
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
  /** The request waited for another one's response, which it may not have: `collapsed=?0` (RFC 9211 section 2.6). */
  readonly collapseFailed: boolean
}

/** What a leader can say when its head goes out: `stored` only where nothing can come between any more (`certain`). */
export function leaderMember(
  judgement: Judgement,
  { forwarded, collapseFailed }: MissReason,
  certain: boolean,
): Member {
  const way = `fwd=${forwarded}${collapseFailed ? '; collapsed=?0' : ''}`
  if (judgement.kind === 'store') return certain ? `${way}; stored; ttl=${seconds(judgement.lifetime.ttl)}` : way
  // Why nobody could have it is what the one said who was waited for.
  return collapseFailed ? way : `${way}; detail=${judgement.kind === 'fail' ? 'status' : judgement.why}`
}

/** A handler's failure in whose place a stale response is served: its status, where it has one. */
export interface MaskedFailure {
  readonly status: number | undefined
}

/** What is served from an entry, or from the load that this request waited for. */
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

/** A leader whose handler said 304: the stored answer holds again, or, with 200, another one was fetched in its place. */
export function revalidatedMember(
  lookup: Pick<Lookup<unknown>, 'status' | 'freshFor'> | undefined,
  status: 200 | 304 = 304,
): Member {
  const stored = lookup?.status === 'loaded' && lookup.freshFor > 0
  const forwarded = `fwd=stale; fwd-status=${status}`
  return stored ? `${forwarded}; stored; ttl=${seconds(lookup.freshFor)}` : forwarded
}

/** Rounded down, so that whatever is stale is negative. */
function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000)
}
