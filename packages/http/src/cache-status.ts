import type { Lookup } from '@cattlegrid/core'
import type { Bypass } from './eligible.ts'
import type { Judgement } from './storable.ts'

/** One cache's word on one answer: a member of the list `Cache-Status` (RFC 9211), without the cache's name. */
export type Member = string

/** Why a request had to go forward to its handler. */
export type Forwarded = 'uri-miss' | 'stale'

/** Adds our member at the end: the first one is the nearest to the origin. */
export function appendMember(existing: string | readonly string[] | undefined, name: string, member: Member): string {
  const before = existing === undefined || existing.length === 0 ? '' : `${String(existing)}, `
  return `${before}${name}; ${member}`
}

export function bypassMember(why: Bypass | 'body' | 'head'): Member {
  return why === 'method' ? 'fwd=method' : `fwd=bypass; detail=${why}`
}

/** What a leader can say when its head goes out: "stored" only where nothing can come between any more. */
export function leaderMember(judgement: Judgement, forwarded: Forwarded, buffered: boolean): Member {
  switch (judgement.kind) {
    case 'store':
      return buffered ? `fwd=${forwarded}; stored; ttl=${seconds(judgement.lifetime.ttl)}` : `fwd=${forwarded}`
    case 'fail':
      return `fwd=${forwarded}; detail=status`
    case 'share':
    case 'own':
      return `fwd=${forwarded}; detail=${judgement.why}`
  }
}

/** The failure that a client was spared: its status, where it has one. */
export interface Spared {
  readonly status: number | undefined
}

/** What is served from an entry, or from the load that this request waited for. */
export function servedMember(
  { status, role, freshFor, waited }: Pick<Lookup<unknown>, 'status' | 'role' | 'freshFor' | 'waited'>,
  spared: Spared | undefined,
): Member {
  const ttl = `ttl=${seconds(freshFor)}`
  if (status === 'stale') {
    // Who may have a stale answer at once does not wait; who had to wait was spared a failure, or a slow load.
    if (spared === undefined && waited === 0) return `hit; ${ttl}; detail=stale-while-revalidate`
    const fwdStatus = spared?.status === undefined ? '' : `fwd-status=${spared.status}; `
    return `fwd=stale; ${fwdStatus}${ttl}; detail=stale-if-error`
  }
  if (role === 'none') return `hit; ${ttl}`
  return freshFor > 0 ? `fwd=uri-miss; collapsed; ${ttl}` : 'fwd=uri-miss; collapsed'
}

/** Rounded down, so that whatever is stale is negative. */
function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000)
}
