import type { IncomingHttpHeaders } from 'node:http'
import { normalHost } from '../fields/normal-host.ts'
import type { Ambiguity } from './single-fields.ts'
import { readUnreported } from './watched-fields.ts'

/** The parts of a request that decide whether it may use the cache. */
export interface Candidate {
  readonly method: string
  /** The method on the wire, where something replaced it. */
  readonly originalMethod: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly target: string
  /** The target was absolute: layers outside may have used its authority. */
  readonly hadAuthority?: boolean
  readonly scheme: string
  readonly host: string
}

/** The route's rules for the requests that may use the cache. */
export interface Eligibility {
  /**
   * A request with credentials: `bypass`: bypasses the cache. `key`: has entries of its own. `declared`:
   * shares responses that allow it (RFC 9111 section 3.5). `share`: is like any other.
   */
  readonly authorization: 'bypass' | 'key' | 'declared' | 'share'
  readonly cookies: 'ignore' | 'bypass'
  /** By scheme, as `hostsByScheme` makes them; undefined: every host. */
  readonly hosts: HostsByScheme | undefined
}

type HostsByScheme = ReadonlyMap<string, ReadonlySet<string>>

/** Lists hosts as a key of each scheme holds them. */
export function hostsByScheme(listed: readonly string[]): HostsByScheme {
  return new Map(
    ['http', 'https'].map((scheme) => [scheme, new Set(listed.map((host) => normalHost(scheme, host)))] as const),
  )
}

/** Why a request may not use the cache; `Cache-Status` names it. */
export type IneligibleReason =
  'method' | 'authorization' | 'cookie' | 'authority' | 'host' | 'upgrade' | 'event-stream' | 'no-path'

/** Returns why the request must not use the cache; undefined where it may. */
export function ineligibleReason(
  { method, originalMethod, headers, target, scheme, host }: Candidate,
  { authorization, cookies, hosts }: Eligibility,
): IneligibleReason | undefined {
  const wire = originalMethod ?? method
  if (wire !== 'GET' && wire !== 'HEAD') return 'method'
  // RFC 9111 section 3.5: a response to credentials is only for their owner.
  if (authorization === 'bypass' && readUnreported(headers, 'authorization') !== undefined) return 'authorization'
  if (cookies === 'bypass' && readUnreported(headers, 'cookie') !== undefined) return 'cookie'
  if (hasOtherAuthority(headers, scheme)) return 'authority'
  if (hosts !== undefined && hosts.get(scheme)?.has(normalHost(scheme, host)) !== true) return 'host'
  if (headers.upgrade !== undefined) return 'upgrade'
  if (headers.accept?.toLowerCase().includes('text/event-stream') === true) return 'event-stream'
  // `*` and authority-form have no path to make the key and the handler's URL from.
  return target.startsWith('/') ? undefined : 'no-path'
}

/**
 * True if a request over HTTP/2 names two hosts (RFC 9113 section 8.3.1): the key holds one, and its handler
 * could read the other.
 */
function hasOtherAuthority({ ':authority': authority, host }: IncomingHttpHeaders, scheme: string): boolean {
  if (authority === undefined || host === undefined) return false
  return normalHost(scheme, String(authority)) !== normalHost(scheme, host)
}

export const METHOD_OVERRIDES: readonly string[] = ['x-http-method-override', 'x-http-method', 'x-method-override']

/**
 * Input that the handler may see and no key holds: another method than the one on the wire, a body, a second
 * value of what is keyed, another host than the fixed one.
 */
export type UnkeyedInput = 'method-override' | 'body' | 'host' | Ambiguity

/**
 * True if what layers outside make of the host of a request may be in a response under a key with a fixed
 * host: `hosts` lists it, or it is the fixed one.
 */
export function isTrustedHost(
  { scheme, host }: Pick<Candidate, 'scheme' | 'host'>,
  fixed: string | false | undefined,
  hosts: HostsByScheme | undefined,
): boolean {
  if (typeof fixed !== 'string') return true
  const own = normalHost(scheme, host)
  return hosts?.get(scheme)?.has(own) ?? own === normalHost(scheme, fixed)
}

/**
 * The method or the body that a request has beside its key; undefined where it has none. A request that has
 * may be served from the cache, but the response of its own handler is not shared.
 */
export function unkeyedInputOf({ method, originalMethod, headers }: Candidate): 'method-override' | 'body' | undefined {
  if (originalMethod !== undefined && originalMethod !== method) return 'method-override'
  if (METHOD_OVERRIDES.some((name) => headers[name] !== undefined)) return 'method-override'
  const hasBody = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
  return hasBody ? 'body' : undefined
}

const ABSOLUTE = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i

/**
 * The path and query of a request-target (RFC 9112 section 3.2), without the authority of an absolute one,
 * and without a fragment. Any other form is returned unchanged.
 */
export function originForm(target: string): string {
  // Nearly all targets.
  if (target.startsWith('/') && !target.includes('#')) return target
  const [whole = ''] = target.split('#', 1)
  const path = whole.replace(ABSOLUTE, '')
  if (path === whole) return whole
  return path.startsWith('/') ? path : `/${path}`
}
