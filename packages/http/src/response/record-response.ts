import etag from 'etag'
import type { Chunk } from '../fields/body-arguments.ts'
import { initialAge } from './age.ts'
import { formatHttpDate } from '../fields/http-date.ts'
import { insideFields, removedFields, storedFields } from './recorded-fields.ts'
import type { RecordedResponse } from './recorded-response.ts'
import { BODILESS, type ResponseHead } from './response-head.ts'

export interface RecordingRules {
  /** Fields that are not stored, lower-case. */
  readonly strip: readonly string[]
  /** When the handler was called, by the clock of `now`; undefined: just now. */
  readonly began?: number | undefined
  /** Gives a 200 without an entity-tag one. Default: true. */
  readonly makesEtag?: boolean | undefined
  /** The layers outside have sent another body than this one. Default: false. */
  readonly rewritten?: boolean | undefined
}

/** Makes the response to store or to share from what the handler gave. */
export function recordResponse(
  head: ResponseHead,
  body: Buffer,
  { strip, began, makesEtag = true, rewritten = false }: RecordingRules,
  now: number,
): RecordedResponse {
  const { status, fields, form } = head
  const content = BODILESS.has(status) ? Buffer.alloc(0) : body
  const stored = storedFields(head, strip)
  return {
    status,
    fields: {
      date: formatHttpDate(now),
      ...stored.fields,
      ...(makesEtag && !rewritten ? missingEtag(head, content) : {}),
    },
    removed: removedFields(head),
    ...(Object.keys(stored.appended).length === 0 ? {} : { appended: stored.appended }),
    ...(rewritten ? { rewritten } : {}),
    body: content,
    ...(form === undefined ? {} : { form }),
    initialAge: initialAge(fields, now, began),
  }
}

/** Adds the fields of a response that are not stored: for the handler's own client only. */
export function withOwnFields(recorded: RecordedResponse, head: ResponseHead): RecordedResponse {
  const { fields, appended } = insideFields(head)
  return { ...recorded, fields: { ...fields, ...recorded.fields }, appended: { ...appended, ...recorded.appended } }
}

/**
 * The entity-tag of a 200 that has none, not even one of an outer layer: such a layer gives each hit the
 * entity-tag that it gave to the handler's own client. It is weak, because layers outside may still encode
 * the body.
 */
export function missingEtag(
  { status, fields, outer }: Pick<ResponseHead, 'status' | 'fields' | 'outer'>,
  body: Chunk,
): Readonly<Record<string, string>> {
  if (status !== 200 || 'etag' in fields) return {}
  const bytes = typeof body === 'string' ? body : Buffer.from(body.buffer, body.byteOffset, body.length)
  const made = etag(bytes, { weak: true })
  // A leader's 304 has the one that is made here.
  return outer?.['etag'] === undefined || outer['etag'] === made ? { etag: made } : {}
}
