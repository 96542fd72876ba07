import { type Directives, parseCacheControl } from './cache-control.ts'
import { initialAge } from './age.ts'
import { type DeclaredFreshness, declaredFreshness } from './freshness.ts'
import { linesOf } from './header-fields.ts'
import type { ResponseHead } from './recording.ts'

/** How long a stored answer may be used, ms; an undefined window is the cache's own. */
export interface Lifetime {
  readonly ttl: number
  readonly staleWhileRevalidate: number | undefined
  readonly staleIfError: number | undefined
}

/** Why an answer is not stored; the words are those of `Cache-Status`. */
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
  | 'trailers'
  | 'hijacked'

/** What becomes of an answer, by its head alone. */
export type Judgement =
  | { readonly kind: 'store'; readonly lifetime: Lifetime }
  /** Not stored, but whoever waits for it at this moment may have it. */
  | { readonly kind: 'share'; readonly why: Unstorable }
  /** Nobody but the client whose request made it. */
  | { readonly kind: 'own'; readonly why: Unstorable }
  /** The handler failed. Whether those who wait may have its words. */
  | { readonly kind: 'fail'; readonly share: boolean }

/** What the route says about its answers. Durations in ms. */
export interface StoragePolicy {
  /** undefined: only what the answer declares itself. NaN, or less than 1: not stored. */
  readonly ttl: number | undefined
  readonly negativeTtl: number
  /** An answer of this URL was stored before: it is one that everybody may have. */
  readonly proven: boolean
  readonly staleWhileRevalidate: number | undefined
  readonly staleIfError: number | undefined
  readonly maxBodyBytes: number
}

/** Stored with the route's ttl. */
const LASTING = new Set([200, 203, 204, 300, 301, 308])
/** "There is none": stored for a short while, against floods of invented names. */
const ABSENT = new Set([404, 410])
/** About the client, not about the resource: never shared (401, 407: credentials; 403: rights; 429, 431: its own behaviour). */
const PERSONAL = new Set([401, 403, 407, 429, 431])
/** The statuses whose meaning this cache knows, for `must-understand`. */
const UNDERSTOOD = new Set([...LASTING, ...ABSENT, 302, 303, 307, 405, 414, 501])
const ENDLESS = /^\s*(?:text\/event-stream|multipart\/x-mixed-replace)/i

/** RFC 9111 section 3, on the side of caution: what is doubtful is neither stored nor shared. */
export function judge(head: ResponseHead, policy: StoragePolicy, now: number): Judgement {
  const directives = parseCacheControl(linesOf(head.fields, 'cache-control'))
  const prohibition = prohibitionOf(head, directives, policy)
  // Without a ttl of the route's own, an error does not show whether this URL is for everybody: it is its client's, and cools nobody down.
  const forEverybody = policy.ttl !== undefined || policy.proven
  if (head.status >= 500 && forEverybody) return { kind: 'fail', share: prohibition === undefined }
  if (prohibition !== undefined) return { kind: 'own', why: prohibition }
  if (head.status >= 500) return { kind: 'own', why: 'status' }
  const lifetime = lifetimeOf(head, directives, policy, now)
  if (lifetime !== undefined && lifetime.ttl >= 1) return { kind: 'store', lifetime }
  if (head.status >= 400) return { kind: forEverybody ? 'share' : 'own', why: 'status' }
  return { kind: 'own', why: LASTING.has(head.status) ? 'no-freshness' : 'status' }
}

/** Judged over every field that is set, also by layers outside ours. */
function prohibitionOf(head: ResponseHead, directives: Directives, policy: StoragePolicy): Unstorable | undefined {
  const { fields, status } = head
  if ('set-cookie' in fields || 'set-cookie' in (head.outer ?? {})) return 'set-cookie'
  const refused = forbids(directives) ?? forbids(parseCacheControl(linesOf(head.outer ?? {}, 'cache-control')))
  if (refused !== undefined) return refused
  if ('vary' in fields) return linesOf(fields, 'vary').some((line) => line.includes('*')) ? 'vary-star' : 'vary'
  if (status === 206 || 'content-range' in fields) return 'partial'
  if (status < 200 || status === 304 || PERSONAL.has(status) || 'www-authenticate' in fields) return 'status'
  if (directives.has('must-understand') && !UNDERSTOOD.has(status)) return 'status'
  if ('trailer' in fields) return 'trailers'
  if (ENDLESS.test(linesOf(fields, 'content-type')[0] ?? '')) return 'endless'
  return (head.bodyLength ?? Number(linesOf(fields, 'content-length')[0] ?? 0)) > policy.maxBodyBytes
    ? 'too-large'
    : undefined
}

/** Also with an argument: `private="x-name"` is taken as `private` (RFC 9111 section 5.2.2.7). */
function forbids(directives: Directives): Unstorable | undefined {
  return (['no-store', 'private', 'no-cache'] as const).find((name) => directives.has(name))
}

function lifetimeOf(
  head: ResponseHead,
  directives: Directives,
  policy: StoragePolicy,
  now: number,
): Lifetime | undefined {
  const declared = declaredFreshness(head.fields, directives, now)
  const ttl =
    policy.ttl === undefined ? remaining(head, declared, now) : ttlByRoute(head, policy.ttl, policy, declared, now)
  if (ttl === undefined) return undefined
  // A route with a ttl of its own has its own windows too; what the answer forbids, it forbids in both modes.
  const window = (own: number | undefined, said: number | undefined): number | undefined =>
    said === 0 ? 0 : policy.ttl === undefined ? (said ?? own) : (own ?? undefined)
  return {
    ttl,
    staleWhileRevalidate: window(policy.staleWhileRevalidate, declared.staleWhileRevalidate),
    staleIfError: window(policy.staleIfError, declared.staleIfError),
  }
}

function ttlByRoute(
  head: ResponseHead,
  ttl: number,
  policy: StoragePolicy,
  declared: DeclaredFreshness,
  now: number,
): number | undefined {
  if (LASTING.has(head.status)) return ttl
  if (ABSENT.has(head.status)) return Math.min(ttl, policy.negativeTtl)
  // A redirect for now is a decision about one visit, unless it says how long it holds.
  return [302, 303, 307].includes(head.status) ? remaining(head, declared, now) : undefined
}

/** What is left of the lifetime that the answer declares, its age taken off. */
function remaining(head: ResponseHead, { lifetime }: DeclaredFreshness, now: number): number | undefined {
  return lifetime === undefined ? undefined : lifetime - initialAge(head.fields, now) * 1000
}
