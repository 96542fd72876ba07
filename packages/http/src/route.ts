import { AsyncResource } from 'node:async_hooks'
import {
  byteSizeRule,
  type Cache,
  type CallOptions,
  checkOptions,
  durationRule,
  functionRule,
  INVALID,
  InvalidOptionError,
  isCattlegridError,
  type LoadOptions,
  type OptionRule,
  type OptionRules,
  orFalse,
  type Parsed,
  type Runtime,
  systemRuntime,
} from '@cattlegrid/core'
import { isHandOver } from './errors.ts'
import type { RouteOptions } from './options.ts'
import { type RecordedResponse, recordedResponseCodec } from './recorded-response.ts'
import type { StoragePolicy } from './storable.ts'

/** A cache as the HTTP layer uses it; made once, at set-up. */
export interface HttpCache {
  readonly cache: Cache
  readonly runtime: Runtime
  /** The async context of the set-up: a refresh must not run inside the context of the client that happened to start it. */
  readonly scope: AsyncResource
}

export function httpCache(cache: Cache): HttpCache {
  const { lookup, wrap } = (cache ?? {}) as Partial<Cache>
  if (typeof lookup !== 'function' || typeof wrap !== 'function')
    throw new InvalidOptionError('cache', cache, 'a cache made by createCache()')
  return { cache, runtime: systemRuntime, scope: new AsyncResource('cattlegrid.refresh') }
}

/** A route's options, checked, with their defaults. */
export interface Route<Req = unknown, Res = unknown> extends HttpCache {
  readonly callOptions: CallOptions<RecordedResponse>
  readonly storage: Omit<StoragePolicy, 'ttl' | 'proven'>
  /** ms; undefined: only what the answer declares; NaN: not stored. */
  ttl(request: Req, response: Res): number | undefined
  skip(request: Req): boolean
  /** The name in `Cache-Status`; undefined: the field is not sent. */
  readonly cacheStatus: string | undefined
}

const LONGEST_WINDOW = 2 ** 32 - 1
const TOKEN = /^[A-Za-z*][\w!#$%&'*+.^`|~:/-]*$/

const positive = durationRule(1)
const window = durationRule(0, LONGEST_WINDOW)

/** `rule`, or a function or word beside it. */
function either<T>(accepted: string, fits: (value: unknown) => boolean, rule: OptionRule<T>): OptionRule<unknown> {
  return { accepted: `${rule.accepted}; or ${accepted}`, parse: (value) => (fits(value) ? value : rule.parse(value)) }
}

/** The engine's own options are checked by the engine, together, in `checkByEngine`. */
const byEngine: OptionRule<unknown> = { accepted: 'what a call of the cache takes', parse: (value) => value }

const routeRules = {
  ttl: either("'origin', or a function", (value) => value === 'origin' || typeof value === 'function', positive),
  staleWhileRevalidate: window,
  staleIfError: window,
  softTimeout: byEngine,
  jitter: byEngine,
  loadTimeout: byEngine,
  waitTimeout: byEngine,
  onWaitTimeout: byEngine,
  earlyRefresh: byEngine,
  lease: byEngine,
  failureCooldown: byEngine,
  negativeTtl: orFalse(durationRule(0)),
  skip: functionRule<(request: never) => boolean>('a function (req) => boolean'),
  maxBodyBytes: byteSizeRule(0),
  cacheStatus: either('true or false', (value) => typeof value === 'boolean', {
    accepted: 'a token such as edge-1',
    parse: (value) => (typeof value === 'string' && TOKEN.test(value) ? value : INVALID),
  }),
} satisfies OptionRules<RouteOptions>

type ParsedRoute = Parsed<typeof routeRules>

/**
 * Checks the options of a route when it is declared; `defaults` are those of the adapter, checked already.
 *
 * @param owner what the options were given to, for error messages.
 * @throws InvalidOptionError for an option that is unknown or has a value it cannot have.
 */
export function compileRoute<Req, Res>(
  owner: string,
  http: HttpCache,
  defaults: RouteOptions<Req, Res> | undefined,
  options: RouteOptions<Req, Res> | undefined,
): Route<Req, Res> {
  const given = {
    ...checkOptions(owner, defaults, routeRules),
    ...withoutUndefined(checkOptions(owner, options, routeRules)),
  }
  const callOptions = callOptionsOf(given)
  checkByEngine(owner, http.cache, callOptions)
  const { staleWhileRevalidate, staleIfError, negativeTtl, maxBodyBytes } = given
  const skip = given.skip as ((request: Req) => boolean) | undefined
  return {
    ...http,
    callOptions,
    storage: {
      staleWhileRevalidate,
      staleIfError,
      negativeTtl: negativeTtl === false ? 0 : (negativeTtl ?? 5000),
      maxBodyBytes: maxBodyBytes ?? 1024 ** 2,
    },
    ttl: ttlOf<Req, Res>(given.ttl),
    skip: (request) => skip !== undefined && skips(skip, request),
    cacheStatus: nameOf(given.cacheStatus),
  }
}

/** Every answer says with `keep` how long it lives: the ttl of the call only has to be one. */
function callOptionsOf(given: Partial<ParsedRoute>): CallOptions<RecordedResponse> {
  const { softTimeout, jitter, loadTimeout, waitTimeout, onWaitTimeout, earlyRefresh, lease, failureCooldown } = given
  const ofEngine = {
    softTimeout,
    jitter,
    loadTimeout,
    waitTimeout,
    onWaitTimeout,
    earlyRefresh,
    lease,
    failureCooldown,
  }
  return {
    ...(withoutUndefined(ofEngine) as LoadOptions),
    ttl: 1,
    codec: recordedResponseCodec,
    isFailure: (error) => !isHandOver(error),
  }
}

/** The engine judges its options now, and not with the first request. */
function checkByEngine(owner: string, cache: Cache, callOptions: CallOptions<RecordedResponse>): void {
  try {
    cache.wrap(neverCalled, { ...callOptions, key: () => '' })
  } catch (error) {
    if (!isCattlegridError(error, 'CATTLEGRID_INVALID_OPTION')) throw error
    const { option, value, accepted } = error as InvalidOptionError
    throw new InvalidOptionError(option.replace(/^wrap/, owner), value, accepted)
  }
}

function neverCalled(): RecordedResponse {
  throw new Error('only the options are looked at')
}

function ttlOf<Req, Res>(ttl: unknown): (request: Req, response: Res) => number | undefined {
  if (ttl === undefined || ttl === 'origin') return () => undefined
  if (typeof ttl !== 'function') return () => ttl as number
  return (request, response) => {
    try {
      const answer = positive.parse((ttl as (req: Req, res: Res) => unknown)(request, response))
      return answer === INVALID ? Number.NaN : answer
    } catch {
      return Number.NaN
    }
  }
}

function nameOf(cacheStatus: unknown): string | undefined {
  if (cacheStatus === true) return 'cattlegrid'
  return typeof cacheStatus === 'string' ? cacheStatus : undefined
}

function skips<Req>(skip: (request: Req) => boolean, request: Req): boolean {
  try {
    return skip(request)
  } catch {
    return true
  }
}

function withoutUndefined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T
}
