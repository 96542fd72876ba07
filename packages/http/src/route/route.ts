import {
  type Cache,
  type CallOptions,
  InvalidOptionError,
  isCattlegridError,
  type LoadOptions,
  type ViewOptions,
} from '@cattlegrid/core'
import { Audit } from '../audit/audit.ts'
import { OuterBodies } from '../recorder/outer-bodies.ts'
import { type Eligibility, hostsByScheme } from '../request/eligible.ts'
import { isNoSharedResult } from '../response/errors.ts'
import type { HttpCache } from './http-cache.ts'
import { KeyMemo } from '../request/key-memo.ts'
import { type HiddenFields, hiddenFields } from '../request/handler-input.ts'
import type { KeyOptions, QueryOptions, RouteOptions } from './options.ts'
import { ApplicationPackages } from '../request/caller.ts'
import { CLIENT_FIELDS, type PersonalReadRule } from '../request/client-reads.ts'
import type { QueryRule } from '../request/query.ts'
import { type Stored, storedCodec } from '../response/recorded-response.ts'
import type { KeyRule } from '../request/request-key.ts'
import { type RouteFunctions, routeFunctionsOf } from './route-functions.ts'
import { type ParsedRoute, parseRouteOptions } from './route-rules.ts'
import type { ReportRule } from '../response/report-fields.ts'
import type { StoragePolicy } from '../response/storable.ts'
import { RouteWarnings } from './route-warnings.ts'
import { RefreshMode } from './refresh-mode.ts'

/** The checked options of a route, with their defaults. */
export interface Route<Req = unknown, Res = unknown> extends HttpCache, RouteFunctions<Req, Res>, ReportRule {
  readonly callOptions: CallOptions<Stored>
  /** The cache, with these options and the route's `maxLoads`. */
  readonly view: Cache
  /** The cache, with these options, for reads that do not return a response which is kept only for errors. */
  readonly viewWithoutStaleIfError: Cache
  readonly keys: KeyMemo
  readonly storage: Omit<StoragePolicy, 'ttl' | 'storedBefore' | 'unkeyedCredentials'>
  readonly eligibility: Eligibility
  readonly keyRule: KeyRule
  readonly query: QueryRule
  readonly personalReads: PersonalReadRule
  readonly warnings: RouteWarnings
  readonly outerBodies: OuterBodies
  /** undefined: no response is audited. */
  readonly audit: Audit | undefined
  readonly mode: 'serve' | 'observe'
  /** A response is stored only for the lifetime that it declares. */
  readonly appMode: boolean
  /** The request fields that are hidden from a leader's handler. */
  readonly hidden: HiddenFields
  readonly strip: readonly string[]
  readonly ignoreVary: readonly string[]
  /** Lower-case. */
  readonly tagHeader: string | undefined
  readonly maxVariants: number
  readonly maxCaptureBytes: number
  readonly range: boolean
  readonly downstream: 'age' | 'reset'
  readonly refreshMode: RefreshMode
  readonly refreshHeaders: readonly string[]
  readonly invalidateOnUnsafe: boolean
  readonly revalidate: boolean
  /** The `Cache-Control` of stored responses that have none. */
  readonly clientFreshness: Readonly<Record<string, string>>
  readonly phase: 'preHandler' | 'onRequest'
  /** The events of `cattlegrid:http` have the request-target. */
  readonly eventUrl: boolean
}

/**
 * Compiles the options of a route when it is declared; `defaults` are those of the adapter.
 *
 * @param owner the function that got the options, for error messages.
 *
 * @example
 * import { compileRoute, httpCache, nextDeclaration } from '@cattlegrid/http'
 *
 * const http = httpCache(cache)
 * const route = compileRoute('cached', http, undefined, { ttl: '30s' })
 * const place = nextDeclaration(http)
 * @throws InvalidOptionError for an unknown option or a value that is not accepted.
 */
export function compileRoute<Req, Res>(
  owner: string,
  http: HttpCache,
  defaults: RouteOptions<Req, Res> | undefined,
  options: RouteOptions<Req, Res> | undefined,
): Route<Req, Res> {
  const given: ParsedRoute = {
    ...parseRouteOptions(owner, defaults),
    ...withoutUndefined(parseRouteOptions(owner, options)),
  }
  const callOptions = callOptionsOf(given)
  const { strip = [], maxVariants = 16, range = false, downstream = 'age', refresh = 'behind' } = given
  const { tagHeader, refreshHeaders = [], scrub = true } = given
  const key = (given.key ?? {}) as KeyOptions<Req>
  const keyRule: KeyRule = { headers: key.headers ?? [], cookies: key.cookies ?? [], host: key.host }
  return {
    ...http,
    ...routeFunctionsOf<Req, Res>(owner, given, key),
    callOptions,
    view: viewOf(owner, http, { ...callOptions, maxLoads: given.maxLoads }),
    viewWithoutStaleIfError: viewOf(owner, http, { ...callOptions, staleIfError: false }),
    keys: new KeyMemo(),
    mode: given.mode ?? 'serve',
    appMode: isAppMode(given),
    hidden: hiddenFields(keyRule, scrub),
    strip,
    ignoreVary: given.ignoreVary ?? [],
    maxVariants,
    maxCaptureBytes: given.maxCaptureBytes ?? 64 * 1024 ** 2,
    range,
    downstream,
    refreshMode: new RefreshMode(refresh),
    refreshHeaders,
    eventUrl: given.eventUrl ?? false,
    storage: storageOf(given, http),
    eligibility: eligibilityOf(given),
    keyRule,
    query: queryOf(given.query),
    personalReads: personalReadsOf(given, key.extra, new ApplicationPackages(compileRoute)),
    warnings: new RouteWarnings(given.ttl, http.cache.windows.ttl),
    outerBodies: new OuterBodies(),
    audit: auditOf(given.audit, http),
    tagHeader: tagHeader === false ? undefined : tagHeader,
    revalidate: given.revalidate ?? false,
    clientFreshness: clientFreshnessOf(given.clientMaxAge),
    phase: given.phase ?? 'preHandler',
    invalidateOnUnsafe: given.invalidateOnUnsafe ?? isAppMode(given),
    ...reportRuleOf(given),
  }
}

function reportRuleOf({
  cacheStatus,
  cacheStatusKey = false,
  xCache = false,
  serverTiming = false,
}: ParsedRoute): ReportRule {
  return { cacheStatus: nameOf(cacheStatus), cacheStatusKey, xCache, serverTiming }
}

/**
 * In development each route is audited unless it says no. It is stopped by a difference: another client's
 * page surprises more than one that is not cached.
 */
function auditOf(given: ParsedRoute['audit'], { cache }: HttpCache): Audit | undefined {
  const isDevelopment = process.env['NODE_ENV'] === 'development'
  if (given === false || (given === undefined && !isDevelopment)) return undefined
  const { rate = 0.001, onMismatch = 'stop' } = given ?? { rate: 0 }
  return new Audit(cache, { rate, stops: onMismatch === 'stop', isDevelopment })
}

function isAppMode({ ttl }: ParsedRoute): boolean {
  return ttl === undefined || ttl === 'origin'
}

function storageOf(given: ParsedRoute, { cache: { windows } }: HttpCache): Route['storage'] {
  const { negativeTtl, maxBodyBytes, targets, unsafeVaryOn } = given
  return {
    staleWhileRevalidate: given.staleWhileRevalidate ?? windows.staleWhileRevalidate,
    staleIfError: given.staleIfError ?? windows.staleIfError,
    negativeTtl: negativeTtl === false ? 0 : (negativeTtl ?? 5000),
    maxBodyBytes: maxBodyBytes ?? 1024 ** 2,
    revalidates: given.revalidate ?? false,
    targets: targets ?? [],
    stripSetCookie: given.unsafeStripSetCookie ?? false,
    varyOn: [unsafeVaryOn, given.ignoreVary, given.key?.headers].flatMap((names) => names ?? []),
  }
}

function eligibilityOf(given: ParsedRoute): Eligibility {
  const authorization = given.authorization ?? (isAppMode(given) ? 'declared' : 'bypass')
  const { cookies = 'ignore' } = given
  const hosts = given.hosts === undefined ? undefined : hostsByScheme(given.hosts)
  return { authorization: given.unsafeShareAuthorized === true ? 'share' : authorization, cookies, hosts }
}

/** In app mode a response must say itself that it may be stored, so handlers may look at any field. */
function personalReadsOf(given: ParsedRoute, extra: unknown, application: ApplicationPackages): PersonalReadRule {
  return {
    allowed: given.allowReads ?? [],
    keyedCookies: given.key?.cookies ?? [],
    // `key.extra` may be made of any of them.
    keyedFields: extra === undefined ? (given.key?.headers ?? []) : CLIENT_FIELDS,
    ownsCredentials: given.authorization === 'key' || given.unsafeShareAuthorized === true,
    watchesFields: !isAppMode(given),
    application,
  }
}

function queryOf(query: unknown): QueryRule {
  if (query === undefined || query === true) return { kind: 'all' }
  if (query === false) return { kind: 'only', names: new Set() }
  if (Array.isArray(query)) return { kind: 'only', names: new Set(query as string[]) }
  return { kind: 'ignore', names: new Set((query as QueryOptions).ignore) }
}

/** The ttl only has to be valid, and to fit `earlyRefresh`: every load sets its own lifetime with `keep`. */
function callOptionsOf(given: ParsedRoute): CallOptions<Stored> {
  const { softTimeout, jitter, loadTimeout, waitTimeout, onWaitTimeout, earlyRefresh, lease, failureCooldown } = given
  const waits = { softTimeout, loadTimeout, waitTimeout, onWaitTimeout }
  const ofEngine = { ...waits, jitter, earlyRefresh, lease, failureCooldown }
  return {
    ...(withoutUndefined(ofEngine) as LoadOptions),
    ttl: typeof given.ttl === 'number' ? `${given.ttl}ms` : Infinity,
    codec: storedCodec,
    isFailure: (error) => !isNoSharedResult(error),
  }
}

/** The core checks its options here, once for all requests. */
function viewOf(owner: string, { cache }: HttpCache, options: ViewOptions): Cache {
  try {
    return cache.with(options)
  } catch (error) {
    if (!isCattlegridError(error, 'CATTLEGRID_INVALID_OPTION')) throw error
    const { option, value, accepted } = error
    throw new InvalidOptionError(option.replace(/^with/, owner), value, accepted)
  }
}

/** The greatest `max-age`, s: a recipient may take any greater one for this (RFC 9111 section 1.2.2). */
const GREATEST_DELTA_SECONDS = 2 ** 31 - 1

function clientFreshnessOf(maxAge: number | undefined): Readonly<Record<string, string>> {
  return maxAge === undefined
    ? {}
    : { 'cache-control': `max-age=${Math.min(Math.floor(maxAge / 1000), GREATEST_DELTA_SECONDS)}` }
}

function nameOf(cacheStatus: unknown): string | undefined {
  if (cacheStatus === true) return 'cattlegrid'
  return typeof cacheStatus === 'string' ? cacheStatus : undefined
}

function withoutUndefined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T
}
