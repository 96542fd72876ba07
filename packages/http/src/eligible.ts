import type { IncomingHttpHeaders } from 'node:http'

/** What of a request decides whether it may use the cache. */
export interface Candidate {
  readonly method: string
  /** The method on the wire, where something replaced it. */
  readonly originalMethod: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly target: string
}

/** Why a request goes past the cache; the words are those of `Cache-Status`. */
export type Bypass = 'method' | 'authorization' | 'upgrade' | 'event-stream' | 'absolute-form' | 'skip' | 'key-too-long'

/** Why this request must not use the cache at all; undefined where it may. */
export function bypassOf({ method, originalMethod, headers, target }: Candidate): Bypass | undefined {
  const wire = originalMethod ?? method
  if (wire !== 'GET' && wire !== 'HEAD') return 'method'
  // RFC 9111 section 3.5: an answer to credentials belongs to whoever gave them.
  if (headers.authorization !== undefined) return 'authorization'
  if (headers.upgrade !== undefined) return 'upgrade'
  if (headers.accept?.toLowerCase().includes('text/event-stream') === true) return 'event-stream'
  // The handler would see the attacker's text as its URL, the key only the path.
  if (!target.startsWith('/') || target.includes('#')) return 'absolute-form'
  return undefined
}

export const METHOD_OVERRIDES: readonly string[] = ['x-http-method-override', 'x-http-method', 'x-method-override']

/**
 * Whether the handler may see more of this request than its key holds: a body, or another method than the one on the wire. It may be
 * served, but what a handler answers to it is its own.
 */
export function leadsNobody({ method, originalMethod, headers }: Candidate): boolean {
  if (originalMethod !== undefined && originalMethod !== method) return true
  if (METHOD_OVERRIDES.some((name) => headers[name] !== undefined)) return true
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}
