import type { Lookup } from '@cattlegrid/core'
import type { IneligibleReason, UnkeyedInput } from '../request/eligible.ts'
import type { Judgement } from './storable.ts'

/**
 * What the cache did with a request. `hit`, `stale`: served from an entry. `collapsed`: it waited for the
 * response of another request. `miss`: its own handler ran, or a subrequest in its place. `revalidated`: its
 * handler answered 304. `bypass`: the cache took no part.
 */
export type VerdictKind = 'hit' | 'stale' | 'collapsed' | 'miss' | 'revalidated' | 'bypass'

/**
 * A `VerdictKind` with the parameters of `Cache-Status` (RFC 9211 section 2). Without `fwd` the request is
 * a hit.
 */
export interface Verdict {
  readonly kind: VerdictKind
  readonly fwd?: Forwarded | 'bypass' | 'method' | undefined
  readonly fwdStatus?: number | undefined
  /** True: it waited for another one's response. False: it waited, and may not get it. */
  readonly collapsed?: boolean | undefined
  readonly stored?: boolean | undefined
  /** ms; negative for a stale response. */
  readonly ttl?: number | undefined
  readonly detail?: string | undefined
}

/**
 * Why no stored response was served (RFC 9211 section 2.2). `uri-miss`: none of the URL is stored, as far as
 * the cache knows. `vary-miss`: none of this request's variant. `stale`: it is stale. `request`: it is older
 * than the client accepts.
 */
export type Forwarded = 'uri-miss' | 'vary-miss' | 'stale' | 'request'

/** Why a request bypasses the cache. `collapsed`: it waited for a response that it may not get. */
export type BypassReason =
  | IneligibleReason
  | UnkeyedInput
  | 'disabled'
  | 'skip'
  | 'paused'
  | 'audit'
  | 'loop'
  | 'serializer'
  | 'key-failed'
  | 'key-too-long'
  | 'read-only'
  | 'unstored'
  | 'no-store'
  | 'set-cookie'
  | 'head'
  | 'collapsed'

/** The member of `Cache-Status` without the cache's name. */
export function memberOf({ fwd, fwdStatus, collapsed, stored, ttl, detail }: Verdict): string {
  const parameters = [
    fwd === undefined ? 'hit' : `fwd=${fwd}`,
    fwdStatus === undefined ? undefined : `fwd-status=${fwdStatus}`,
    collapsed === undefined ? undefined : collapsed ? 'collapsed' : 'collapsed=?0',
    stored === true ? 'stored' : undefined,
    // Rounded down, so that the ttl of a stale response is negative.
    ttl === undefined ? undefined : `ttl=${Math.floor(ttl / 1000)}`,
    detail === undefined ? undefined : `detail=${detail}`,
  ]
  return parameters.filter((parameter) => parameter !== undefined).join('; ')
}

/**
 * The first member is the nearest to the origin. `key`: a key of the cache, which no character needs to be
 * escaped in.
 */
export function appendMember(
  existing: string | readonly string[] | undefined,
  name: string,
  verdict: Verdict,
  key?: string,
): string {
  const before = existing === undefined || existing.length === 0 ? '' : `${String(existing)}, `
  return `${before}${name}; ${memberOf(verdict)}${key === undefined ? '' : `; key="${key}"`}`
}

/** @param forwarded for `collapsed`: why the request waited. */
export function bypassVerdict(why: BypassReason, forwarded: Forwarded): Verdict {
  if (why === 'collapsed') return { kind: 'bypass', fwd: forwarded, collapsed: false }
  if (why === 'no-store') return { kind: 'bypass', fwd: 'request' }
  return why === 'method' ? { kind: 'bypass', fwd: 'method' } : { kind: 'bypass', fwd: 'bypass', detail: why }
}

/** The verdict on an observed request, which bypasses the cache: what the cache would have done, and why. */
export function observedVerdict({ would, why }: { readonly would: string; readonly why: string | undefined }): Verdict {
  return { kind: 'bypass', fwd: 'bypass', detail: `would-${would}${why === undefined ? '' : `/${why}`}` }
}

/** How a request came to run its own handler. */
export interface MissReason {
  readonly forwarded: Forwarded
  /**
   * The request waited for another one's response, which it may not get: `collapsed=?0` (RFC 9211
   * section 2.6).
   */
  readonly collapseFailed: boolean
}

/**
 * The verdict in a leader's own head. `certain`: nothing can prevent the storing any more; only then it
 * says `stored`.
 */
export function leaderVerdict(
  judgement: Judgement,
  { forwarded, collapseFailed }: MissReason,
  certain: boolean,
): Verdict {
  const miss: Verdict = { kind: 'miss', fwd: forwarded, ...(collapseFailed ? { collapsed: false } : {}) }
  if (judgement.kind === 'store') return certain ? { ...miss, stored: true, ttl: judgement.lifetime.ttl } : miss
  // The response that this request waited for has the reason.
  return collapseFailed ? miss : { ...miss, detail: judgement.kind === 'fail' ? 'status' : judgement.why }
}

/** A handler's failure that a stale response replaces. */
export interface MaskedFailure {
  /** undefined: the handler sent no status. */
  readonly status: number | undefined
}

/** The verdict on a request that gets a fresh entry without waiting. */
export function hitVerdict(freshFor: number): Verdict {
  return { kind: 'hit', ttl: freshFor }
}

/**
 * The kind of a response that a lookup brought: from an entry, or from a load that was not the request's
 * own handler.
 */
function servedKind({
  status,
  role,
}: Pick<Lookup<unknown>, 'status' | 'role'>): Exclude<VerdictKind, 'revalidated' | 'bypass'> {
  if (status === 'stale') return 'stale'
  if (role === 'none') return 'hit'
  return role === 'leader' ? 'miss' : 'collapsed'
}

/** The verdict on a request that gets such a response. */
export function servedVerdict(
  lookup: Pick<Lookup<unknown>, 'status' | 'role' | 'freshFor' | 'waited' | 'outcome'>,
  forwarded: Forwarded,
  masked: MaskedFailure | undefined,
): Verdict {
  const { freshFor: ttl, waited, outcome } = lookup
  const kind = servedKind(lookup)
  switch (kind) {
    case 'hit':
      return hitVerdict(ttl)
    case 'stale':
      // A stale response that is served without waiting is stale-while-revalidate; after a wait it masks a
      // failure, or a slow load.
      if (masked === undefined && waited === 0) return { kind, ttl, detail: 'stale-while-revalidate' }
      return { kind, fwd: 'stale', fwdStatus: masked?.status, ttl, detail: 'stale-if-error' }
    case 'miss':
      return outcome?.kind === 'committed' ? { kind, fwd: forwarded, stored: true, ttl } : { kind, fwd: forwarded }
    case 'collapsed':
      return { ...collapsedVerdict(forwarded), ttl: ttl > 0 ? ttl : undefined }
  }
}

/**
 * The verdict on a request that gets a response which is shared with the requests that waited for it, and
 * not stored.
 */
export function collapsedVerdict(forwarded: Forwarded): Verdict {
  return { kind: 'collapsed', fwd: forwarded, collapsed: true }
}

/**
 * The verdict on a leader whose handler answered 304. `status` 200: that 304 did not match, and a subrequest
 * got a new response.
 */
export function revalidatedVerdict(
  lookup: Pick<Lookup<unknown>, 'status' | 'freshFor'> | undefined,
  status: 200 | 304 = 304,
): Verdict {
  const stored = lookup?.status === 'loaded' && lookup.freshFor > 0
  const revalidated: Verdict = { kind: 'revalidated', fwd: 'stale', fwdStatus: status }
  return stored ? { ...revalidated, stored, ttl: lookup.freshFor } : revalidated
}
