import { linesOf } from '../fields/header-fields.ts'
import type { RecordedResponse } from './recorded-response.ts'
import type { ResponseHead } from './response-head.ts'
import type { Lifetime } from './storable.ts'

/** How long an answer is kept past its last use, so that it can still be revalidated, ms: 1 hour. */
const RETENTION = 3_600_000

/** About the message that a 304 is, and not the one that it stands for; everything else is taken from it (RFC 9111 section 3.2). */
const OF_THE_MESSAGE = ['content-length', 'content-range', 'transfer-encoding']

/** What a conditional request of the cache's own asks with (RFC 9111 section 4.3.1): the stored validators; none where there are none. */
export function validatorsOf({ status, fields }: RecordedResponse): Readonly<Record<string, string>> {
  const { etag, 'last-modified': modified } = fields
  if (status !== 200) return {}
  return {
    ...(typeof etag === 'string' ? { 'if-none-match': etag } : {}),
    ...(typeof modified === 'string' ? { 'if-modified-since': modified } : {}),
  }
}

/**
 * Whether a 304 is about the stored answer (RFC 9111 section 4.3.4): by the entity-tag that it names, if it names one. A strong one must be
 * the very same.
 */
export function isAbout(stored: RecordedResponse, { fields }: ResponseHead): boolean {
  const [named] = linesOf(fields, 'etag')
  const [known] = linesOf(stored.fields, 'etag')
  return named === undefined || named === known || (named.startsWith('W/') && named.slice(2) === known)
}

/** The head of the stored answer, with what a 304 says anew (RFC 9111 section 4.3.4). It dates from now, unless that says otherwise. */
export function freshened(head: ResponseHead, stored: RecordedResponse): ResponseHead {
  const said = Object.entries(head.fields).filter(([name]) => !OF_THE_MESSAGE.includes(name))
  const { date: _, ...kept } = stored.fields
  const fields = { ...head.before, ...kept, ...Object.fromEntries(said) }
  return { ...head, status: stored.status, fields, bodyLength: stored.body.length }
}

/**
 * The windows to keep an answer with that can be revalidated, and how long after its commit it may still be served stale: the engine keeps
 * it for longer, and does not know that.
 */
export function retained(
  { status, fields }: RecordedResponse,
  { ttl, staleWhileRevalidate = 0, staleIfError = 0, validatedOnly = false }: Lifetime,
): { readonly staleIfError: number; readonly usableFor: number } | undefined {
  if (status !== 200 || (fields['etag'] === undefined && fields['last-modified'] === undefined)) return undefined
  return {
    staleIfError: Math.max(staleIfError, RETENTION),
    usableFor: validatedOnly ? 0 : ttl + Math.max(staleWhileRevalidate, staleIfError),
  }
}
