import { INVALID } from '@cattlegrid/core'
import type { ServeError } from '../response/errors.ts'
import type { KeyOptions } from './options.ts'
import { type ParsedRoute, positiveDuration } from './route-rules.ts'

/** The functions among a route's options. They never throw: each returns a default where the user's function throws. */
export interface RouteFunctions<Req, Res> {
  /** ms; undefined: the lifetime that the response declares; NaN: not stored. */
  ttl(request: Req, response: Res): number | undefined
  /** The option, or what its function returned; not checked. */
  tags(request: Req, response: Res): unknown
  enabled(request: Req): boolean
  skip(request: Req): boolean
  /** undefined: the key has no such part; null: the function failed, and the request has no key. */
  extra(request: Req): string | null | undefined
  obeysClient(request: Req): boolean
  /** Whether `onError` sends the response. */
  handlesError(error: ServeError, request: Req, response: Res): boolean
}

export function routeFunctionsOf<Req, Res>(given: ParsedRoute, { extra }: KeyOptions<Req>): RouteFunctions<Req, Res> {
  const { ttl, tags = [], enabled = true, clientDirectives } = given
  const skip = given.skip as ((request: Req) => unknown) | undefined
  const onError = given.onError as ((...args: unknown[]) => unknown) | undefined
  const callOr = <T>(option: unknown, failed: T, ...args: readonly unknown[]): T => {
    try {
      return (option as (...args: readonly unknown[]) => T)(...args)
    } catch {
      return failed
    }
  }
  return {
    ttl: ttlOf(ttl),
    tags: (...args) => (typeof tags === 'function' ? callOr<unknown>(tags, undefined, ...args) : tags),
    enabled: (request) =>
      typeof enabled === 'function' ? Boolean(callOr<unknown>(enabled, false, request)) : Boolean(enabled),
    skip: (request) => skip !== undefined && Boolean(callOr<unknown>(skip, true, request)),
    extra: (request) => {
      const value = extra === undefined ? undefined : callOr<unknown>(extra, null, request)
      return value === undefined || typeof value === 'string' ? value : null
    },
    obeysClient: (request) =>
      typeof clientDirectives === 'function' && callOr<unknown>(clientDirectives, false, request) === true,
    handlesError: (...args) => onError !== undefined && callOr<unknown>(onError, false, ...args) === true,
  }
}

function ttlOf<Req, Res>(ttl: unknown): (request: Req, response: Res) => number | undefined {
  if (ttl === undefined || ttl === 'origin') return () => undefined
  if (typeof ttl !== 'function') return () => ttl as number
  return (request, response) => {
    try {
      const parsed = positiveDuration.parse((ttl as (req: Req, res: Res) => unknown)(request, response))
      return parsed === INVALID ? Number.NaN : parsed
    } catch {
      return Number.NaN
    }
  }
}
