import type { IncomingHttpHeaders } from 'node:http'

/** What of a request decides whether it may use the cache. */
export interface Candidate {
  readonly method: string
  /** The method on the wire, where something replaced it. */
  readonly originalMethod: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly target: string
  readonly host: string
}

/** What a route says about its requests. */
export interface Admission {
  /** What credentials mean. `bypass`: past the cache. `key`: an entry for each. `declared`: only what says itself that everybody may have it. `share`: nothing. */
  readonly authorization: 'bypass' | 'key' | 'declared' | 'share'
  readonly cookies: 'ignore' | 'bypass'
  /** Lower-case; undefined: every host. */
  readonly hosts: readonly string[] | undefined
}

/** Why a request may not use the cache; `Cache-Status` names it. */
export type IneligibleReason =
  'method' | 'authorization' | 'cookie' | 'host' | 'upgrade' | 'event-stream' | 'absolute-form'

/** Why this request must not use the cache at all; undefined where it may. */
export function ineligibleReason(
  { method, originalMethod, headers, target, host }: Candidate,
  { authorization, cookies, hosts }: Admission,
): IneligibleReason | undefined {
  const wire = originalMethod ?? method
  if (wire !== 'GET' && wire !== 'HEAD') return 'method'
  // RFC 9111 section 3.5: an answer to credentials belongs to whoever gave them.
  if (headers.authorization !== undefined && authorization === 'bypass') return 'authorization'
  if (headers.cookie !== undefined && cookies === 'bypass') return 'cookie'
  if (hosts !== undefined && !hosts.includes(host.toLowerCase())) return 'host'
  if (headers.upgrade !== undefined) return 'upgrade'
  if (headers.accept?.toLowerCase().includes('text/event-stream') === true) return 'event-stream'
  // Not a path: neither the key nor the handler's URL could be made of it.
  return target.startsWith('/') ? undefined : 'absolute-form'
}

export const METHOD_OVERRIDES: readonly string[] = ['x-http-method-override', 'x-http-method', 'x-method-override']

/**
 * Whether the handler may see more of this request than its key holds: a body, or another method than the one on the wire. It may be
 * served, but what a handler answers to it is its own.
 */
export function hasUnkeyedInput({ method, originalMethod, headers }: Candidate): boolean {
  if (originalMethod !== undefined && originalMethod !== method) return true
  if (METHOD_OVERRIDES.some((name) => headers[name] !== undefined)) return true
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

const ABSOLUTE = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i

/**
 * The path and query of a request-target (RFC 9112 section 3.2): of an absolute one the authority is dropped, a fragment always. What is
 * neither stays as it is.
 */
export function originForm(target: string): string {
  // Nearly all are of that form.
  if (target.startsWith('/') && !target.includes('#')) return target
  const [whole = ''] = target.split('#', 1)
  const path = whole.replace(ABSOLUTE, '')
  if (path === whole) return whole
  return path.startsWith('/') ? path : `/${path}`
}
