import { fieldsOfContent, withoutFields } from './conditional.ts'
import { linesOf, sameValue } from '../fields/header-fields.ts'
import type { RecordedResponse } from './recorded-response.ts'
import type { ResponseHead } from './response-head.ts'
import type { Lifetime } from './lifetime.ts'

/** 1 hour: how long an expired response is kept to be revalidated, ms. */
const RETENTION = 3_600_000

/** Fields of a 304 that do not update the stored response (RFC 9111 section 3.2). */
const NOT_UPDATED = ['content-length', 'content-range', 'transfer-encoding']

/**
 * The request fields that revalidate a stored response (RFC 9111 section 4.3.1); none where it has
 * no validators.
 */
export function validatorsOf({ status, fields }: RecordedResponse): Readonly<Record<string, string>> {
  const { etag, 'last-modified': modified } = fields
  if (status !== 200) return {}
  return {
    ...(typeof etag === 'string' ? { 'if-none-match': etag } : {}),
    ...(typeof modified === 'string' ? { 'if-modified-since': modified } : {}),
  }
}

/**
 * True if a 304 with this head confirms the stored response (RFC 9111 section 4.3.4): its entity-tag, if it
 * has one, must match; a strong one exactly.
 */
export function confirms({ fields }: ResponseHead, stored: RecordedResponse): boolean {
  const [named] = linesOf(fields, 'etag')
  const [known] = linesOf(stored.fields, 'etag')
  return named === undefined || named === known || (named.startsWith('W/') && named.slice(2) === known)
}

/**
 * The head of the stored response, updated by the fields of a 304 (RFC 9111 section 4.3.4). Without a `Date`
 * in the 304 it is dated now. What inner layers removed from the 304 stays removed, except fields of a
 * content: a 304 has none.
 */
export function freshened(head: ResponseHead, stored: RecordedResponse): ResponseHead {
  const { before, appended = {} } = head
  const updates = Object.entries(head.fields).filter(
    ([name, value]) => !NOT_UPDATED.includes(name) && !Object.hasOwn(appended, name) && !sameValue(value, before[name]),
  )
  const replaced = updates.map(([name]) => name)
  const contentFields = fieldsOfContent(stored.fields)
  const outer = Object.entries(before).filter(
    ([name]) => name in head.fields || (contentFields.includes(name) && !stored.removed.includes(name)),
  )
  const { date: _, ...kept } = stored.fields
  const fields = {
    ...Object.fromEntries(outer),
    ...withoutFields(kept, Object.keys(appended)),
    ...Object.fromEntries(updates),
  }
  return {
    ...head,
    status: stored.status,
    fields,
    appended: { ...withoutFields(stored.appended ?? {}, replaced), ...appended },
    bodyLength: stored.body.length,
    form: stored.form,
  }
}

/**
 * For a response that can be revalidated: the window for which the engine keeps it, and how long after its
 * commit it may be served. The engine knows the first limit only.
 */
export function retained(
  { status, fields }: RecordedResponse,
  { ttl, staleWhileRevalidate, staleIfError, validatedOnly = false }: Lifetime,
): { readonly staleIfError: number; readonly usableFor: number } | undefined {
  if (status !== 200 || (fields['etag'] === undefined && fields['last-modified'] === undefined)) return undefined
  return {
    staleIfError: Math.max(staleIfError, RETENTION),
    usableFor: validatedOnly ? 0 : ttl + Math.max(staleWhileRevalidate, staleIfError),
  }
}
