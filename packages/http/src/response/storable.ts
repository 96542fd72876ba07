import { initialAge } from './age.ts'
import { type Directives, parseCacheControl } from '../fields/cache-control.ts'
import { type DeclaredFreshness, declaredFreshness } from './freshness.ts'
import { linesOf } from '../fields/header-fields.ts'
import type { ResponseHead } from './response-head.ts'
import { directivesFor, type Policy } from '../fields/targeted-fields.ts'
import { varyForbids, varyNames } from './vary.ts'

/** How long a stored answer may be used, ms; an undefined window is the cache's own. */
export interface Lifetime {
  readonly ttl: number
  /** Since when `ttl` runs, by the clock of the judgement, where the answer itself declares it; undefined: from the commit on. */
  readonly since?: number | undefined
  readonly staleWhileRevalidate: number | undefined
  readonly staleIfError: number | undefined
  readonly tags?: readonly string[] | undefined
  /** Never used before the handler has said that it still holds. */
  readonly validatedOnly?: boolean | undefined
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
  | 'incomplete'
  | 'hijacked'
  | 'authorization'
  | 'handler'
  | 'tags'

/** What becomes of an answer, by its head alone. */
export type Judgement =
  | { readonly kind: 'store'; readonly lifetime: Lifetime }
  /** Not stored, but whoever waits for it at this moment may have it. */
  | { readonly kind: 'share'; readonly why: Unstorable }
  /** Nobody but the client whose request made it. */
  | { readonly kind: 'own'; readonly why: Unstorable; readonly passing?: boolean | undefined }
  /** The handler failed. Whether those who wait may have its words. */
  | { readonly kind: 'fail'; readonly share: boolean }

/** What the route says about its answers. Durations in ms. */
export interface StoragePolicy {
  /** undefined: only what the answer declares itself. NaN, or less than 1: not stored. */
  readonly ttl: number | undefined
  readonly negativeTtl: number
  /** An answer of this URL was stored before: it is one that everybody may have. */
  readonly storedBefore: boolean
  readonly staleWhileRevalidate: number | undefined
  readonly staleIfError: number | undefined
  readonly maxBodyBytes: number
  /** The request had credentials, and its key says no more of them: only an answer that allows it is kept (RFC 9111 section 3.5). */
  readonly authorized: boolean
  /** When the handler was asked, by the clock of `now`; undefined: just now. */
  readonly began?: number | undefined
  /** Whether what must be validated before each use is kept for that, if it has a validator. Default: false. */
  readonly revalidates?: boolean | undefined
  /** Fields that count before `Cache-Control`, lower-case. */
  readonly targets: readonly string[]
  /** `Set-Cookie` is taken off what is stored, instead of forbidding it. */
  readonly stripSetCookie: boolean
  /** Names in `Vary` that are no reason against an answer, lower-case. */
  readonly varyOn: readonly string[]
}

/** Stored with the route's ttl. */
const LASTING = new Set([200, 203, 204, 300, 301, 308])
/** "There is none": stored for a short while, against floods of invented names. */
const ABSENT = new Set([404, 410])
/** About the client, not about the resource: never shared (401, 407: credentials; 403: rights; 429, 431: its own behaviour). */
const PERSONAL = new Set([401, 403, 407, 429, 431])
/** The statuses whose meaning this cache knows, for `must-understand`. */
const UNDERSTOOD = new Set([...LASTING, ...ABSENT, 302, 303, 307, 405, 414, 501])
/** The engine knows no shorter lifetime. */
const VALIDATED_ONLY: Lifetime = { ttl: 1, staleWhileRevalidate: 0, staleIfError: 0, validatedOnly: true }
const ENDLESS = /^\s*(?:text\/event-stream|multipart\/x-mixed-replace)/i

/** RFC 9111 section 3, on the side of caution: what is doubtful is neither stored nor shared. */
export function judge(head: ResponseHead, policy: StoragePolicy, now: number): Judgement {
  const said = directivesFor(head.fields, policy.targets)
  const prohibition = prohibitionOf(head, said, policy)
  // Without a ttl of the route's own, an error does not show whether this URL is for everybody: it is its client's, and cools nobody down.
  const forEverybody = policy.ttl !== undefined || policy.storedBefore
  if (head.status >= 500 && forEverybody) return { kind: 'fail', share: prohibition === undefined }
  if (prohibition !== undefined) return { kind: 'own', why: prohibition }
  const lifetime = lifetimeOf(head, said, policy, now)
  if (isKeptToValidate(head, said, policy, lifetime)) return { kind: 'store', lifetime: VALIDATED_ONLY }
  if (lifetime !== undefined && lifetime.ttl >= 1) return { kind: 'store', lifetime }
  if (head.status >= 500) return { kind: 'own', why: 'status' }
  if (head.status >= 400) return { kind: forEverybody ? 'share' : 'own', why: 'status' }
  return { kind: 'own', why: LASTING.has(head.status) ? 'no-freshness' : 'status' }
}

/** Judged over every field that is set, also by layers outside ours. */
function prohibitionOf(head: ResponseHead, said: Policy, policy: StoragePolicy): Unstorable | undefined {
  const { fields, status, outer = {} } = head
  if (!policy.stripSetCookie && ('set-cookie' in fields || 'set-cookie' in outer)) return 'set-cookie'
  const outside = parseCacheControl(said.targeted ? [] : linesOf(outer, 'cache-control'))
  const allowed = allowedIn(head, said, policy)
  const refused = [...forbidden(said.directives), ...forbidden(outside)].find((why) => !allowed.includes(why))
  if (refused !== undefined) return refused
  if (policy.authorized && !allowsAuthorized(said.directives)) return 'authorization'
  const varies = varyForbids(varyNames(fields), policy.varyOn)
  if (varies !== undefined) return varies
  if (status === 206 || 'content-range' in fields) return 'partial'
  if (status < 200 || status === 304 || PERSONAL.has(status) || 'www-authenticate' in fields) return 'status'
  if (said.directives.has('must-understand') && !UNDERSTOOD.has(status)) return 'status'
  if (ENDLESS.test(linesOf(fields, 'content-type')[0] ?? '')) return 'endless'
  return (head.bodyLength ?? Number(linesOf(fields, 'content-length')[0] ?? 0)) > policy.maxBodyBytes
    ? 'too-large'
    : undefined
}

function canBeValidated({ status, fields }: ResponseHead, { revalidates = false }: StoragePolicy): boolean {
  return revalidates && status === 200 && ('etag' in fields || 'last-modified' in fields)
}

/** RFC 9111 sections 4 and 5.2.2.4: `no-cache`, or a declared lifetime that was over when the answer came. */
function isKeptToValidate(
  head: ResponseHead,
  { directives }: Policy,
  policy: StoragePolicy,
  lifetime: Lifetime | undefined,
): boolean {
  const over = policy.ttl === undefined && lifetime !== undefined && lifetime.ttl < 1
  return canBeValidated(head, policy) && (directives.has('no-cache') || over)
}

/** RFC 9111 section 3.5. */
function allowsAuthorized(directives: Directives): boolean {
  return ['public', 'must-revalidate', 's-maxage'].some((name) => directives.has(name))
}

/** Also with an argument: `private="x-name"` is taken as `private` (RFC 9111 section 5.2.2.7). */
function forbidden(directives: Directives): readonly Unstorable[] {
  return (['no-store', 'private', 'no-cache'] as const).filter((name) => directives.has(name))
}

/** `no-store` beside `must-understand` is for caches that do not know the status (RFC 9111 section 5.2.2.3). */
function allowedIn(head: ResponseHead, { directives }: Policy, policy: StoragePolicy): readonly Unstorable[] {
  const understood = directives.has('must-understand') && UNDERSTOOD.has(head.status)
  return [
    ...(understood ? (['no-store'] as const) : []),
    ...(canBeValidated(head, policy) ? (['no-cache'] as const) : []),
  ]
}

function lifetimeOf(head: ResponseHead, word: Policy, policy: StoragePolicy, now: number): Lifetime | undefined {
  const declared = declaredFreshness(head.fields, word, now)
  const ttl =
    policy.ttl === undefined
      ? remaining(head, declared, now, policy.began)
      : ttlByRoute(head, policy.ttl, policy, declared, now)
  if (ttl === undefined) return undefined
  // A route with a ttl of its own has its own windows too; what the answer forbids, it forbids in both modes.
  const window = (own: number | undefined, said: number | undefined): number | undefined =>
    said === 0 ? 0 : policy.ttl === undefined ? (said ?? own) : (own ?? undefined)
  const byItself = policy.ttl === undefined || ![...LASTING, ...ABSENT].includes(head.status)
  return {
    ttl,
    ...(byItself ? { since: now } : {}),
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
  return [302, 303, 307].includes(head.status) ? remaining(head, declared, now, policy.began) : undefined
}

/** What is left of the lifetime that the answer declares, its age taken off. */
function remaining(
  head: ResponseHead,
  { lifetime }: DeclaredFreshness,
  now: number,
  began: number | undefined,
): number | undefined {
  return lifetime === undefined ? undefined : lifetime - initialAge(head.fields, now, began) * 1000
}
