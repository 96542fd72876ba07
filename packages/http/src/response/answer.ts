import type { OutgoingHttpHeader, ServerResponse } from 'node:http'
import { currentAge } from './age.ts'
import {
  type Conditions,
  DIGESTS_OF_CONTENT,
  fieldsOfContent,
  fieldsOfWhole,
  notModified,
  withoutFields,
} from './conditional.ts'
import { isHeadSent } from '../fields/response-state.ts'
import type { HeaderFields } from '../fields/header-fields.ts'
import { formatHttpDate } from '../fields/http-date.ts'
import { type RangeRequest, selectRange } from './range.ts'
import type { RecordedResponse } from './recorded-response.ts'
import type { ResponseHead } from './response-head.ts'
import { mergeVary } from './vary.ts'

type Fields = Readonly<Record<string, string | string[]>>

/** A complete response that the cache sends in the handler's place. */
export interface Answer {
  readonly status: number
  /** Fields to set, by lower-case name; they replace fields that outer layers have set. */
  readonly fields: Fields
  /** More fields to set, after `fields`: those that differ between two responses from one entry. */
  readonly extraFields?: Readonly<Record<string, string>> | undefined
  /** Fields of outer layers to remove. */
  readonly removed: readonly string[]
  /** undefined: the response has no body, as for HEAD and 304. */
  readonly body: Buffer | undefined
  /**
   * The recorded body and its form, if the response is whole, also where it is sent without its body: a
   * framework gives its hooks this payload.
   */
  readonly whole?: Pick<RecordedResponse, 'body' | 'form'> | undefined
}

/** How a recorded response is served to one client. */
export interface AnswerOptions {
  readonly method: string
  readonly conditions: Conditions | undefined
  /** undefined: the whole body is served. */
  readonly range: RangeRequest | undefined
  /** ms since the commit. */
  readonly residentTime: number
  /** A time of day for `Date` in place of the stored one; the response then has no `Age`. */
  readonly date: number | undefined
  /** Fields that are new in each response, such as `Cache-Status`. */
  readonly added: Readonly<Record<string, string>> | undefined
  /** The `Vary` of outer layers. */
  readonly vary: string | undefined
  /** The fields of outer layers that the response continues, with what it appends. Default: none. */
  readonly continued?: Fields | undefined
  /**
   * True if an outer layer has set `Transfer-Encoding`: a length beside it makes a response that nobody can
   * read. Default: false.
   */
  readonly isFramed?: boolean | undefined
  /**
   * False: layers outside have sent another body than the recorded one, whose validators and parts then say
   * nothing. Default: true.
   */
  readonly keepsBodies?: boolean | undefined
  /** The entity-tag of outer layers, for the conditions of the client. Default: none. */
  readonly etag?: string | undefined
}

/** The fields that are the same in every response from one recorded response. */
interface SharedFields {
  readonly fields: Fields
  /**
   * True if a field has several lines: outer layers may append to that list, so each response gets a copy.
   */
  readonly hasLists: boolean
}

/** Most recorded responses are served many times. */
const sharedFields = new WeakMap<RecordedResponse, SharedFields>()

const LENGTH: readonly string[] = ['content-length']

/**
 * Makes one client's response from a recorded one (RFC 9111 section 4): whole, without a body for HEAD, or a
 * 304, 206 or 416.
 */
export function answerFrom(recorded: RecordedResponse, options: AnswerOptions): Answer {
  const { status, removed, body } = recorded
  const { conditions, method, range } = options
  const shared = sharedFields.get(recorded) ?? sharedFieldsOf(recorded)
  const own = options.continued === undefined ? shared.fields : { ...shared.fields, ...options.continued }
  const whole = options.isFramed === true ? withoutFields(own, LENGTH) : own
  const fields = shared.hasLists ? copyOf(whole) : whole
  const extraFields = extraFieldsFor(recorded, shared.fields, options)
  const isKept = recorded.rewritten !== true && options.keepsBodies !== false
  const mayBeShorter = (conditions !== undefined || range !== undefined) && isKept
  const shorter = mayBeShorter ? shorterAnswer(recorded, { ...fields, ...extraFields }, options) : undefined
  if (shorter !== undefined) return shorter
  const sent = method === 'HEAD' || status === 204 ? undefined : body
  return { status, fields, extraFields, removed, body: sent, whole: recorded }
}

/**
 * The 304, 206 or 416 that the client's conditions or range ask for; undefined: the client gets the
 * whole response.
 */
function shorterAnswer(
  { status, removed, body }: RecordedResponse,
  fields: Fields,
  { conditions, method, range, etag, isFramed = false }: AnswerOptions,
): Answer | undefined {
  const isTagged = etag === undefined || 'etag' in fields || removed.includes('etag')
  const tagged = isTagged ? fields : { ...fields, etag }
  if (notModified(conditions, status, tagged)) return notModifiedFrom(tagged, removed)
  if (range === undefined || method !== 'GET' || status !== 200) return undefined
  const selected = selectRange(range, fields, body.length)
  if (selected === undefined) return undefined
  if (selected === 'unsatisfiable') return rangeNotSatisfiable(fields, removed, body.length)
  const part = body.subarray(selected.from, selected.to + 1)
  const length = {
    'content-range': `bytes ${selected.from}-${selected.to}/${body.length}`,
    ...(isFramed ? {} : { 'content-length': String(part.length) }),
  }
  return {
    status: 206,
    fields: { ...withoutFields(fields, DIGESTS_OF_CONTENT), ...length },
    removed: [...removed, ...DIGESTS_OF_CONTENT],
    body: part,
  }
}

/** RFC 9110 section 15.4.5. A browser needs the fields by which it lets a page read the response. */
function notModifiedFrom(fields: Fields, removed: readonly string[]): Answer {
  const lacking = fieldsOfContent(fields)
  return { status: 304, fields: withoutFields(fields, lacking), removed: [...removed, ...lacking], body: undefined }
}

function extraFieldsFor(
  { status, initialAge, rewritten }: RecordedResponse,
  fields: Fields,
  { residentTime, date, range, added, vary }: AnswerOptions,
): Record<string, string> {
  const extra: Record<string, string> =
    date === undefined ? { age: String(currentAge(initialAge, residentTime)) } : { date: formatHttpDate(date) }
  if (vary !== undefined) extra['vary'] = mergeVary(vary, fields['vary']?.toString()) ?? vary
  if (range !== undefined && rewritten !== true && status === 200 && fields['accept-ranges'] === undefined)
    extra['accept-ranges'] = 'bytes'
  return added === undefined ? extra : Object.assign(extra, added)
}

function sharedFieldsOf(recorded: RecordedResponse): SharedFields {
  const { status, fields, body, rewritten } = recorded
  const length = status === 204 || rewritten === true ? {} : { 'content-length': String(body.length) }
  const hasLists = Object.values(fields).some((value) => typeof value !== 'string')
  const shared = { fields: { ...fields, ...length }, hasLists }
  sharedFields.set(recorded, shared)
  return shared
}

/** RFC 9110 section 15.5.17. */
function rangeNotSatisfiable(fields: Fields, removed: readonly string[], length: number): Answer {
  const lacking = fieldsOfWhole(fields)
  const added = { 'content-range': `bytes */${length}`, 'content-length': '0' }
  return {
    status: 416,
    fields: { ...withoutFields(fields, lacking), ...added },
    removed: [...removed, ...lacking],
    body: Buffer.alloc(0),
  }
}

function copyOf(fields: HeaderFields): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
  )
}

/**
 * The handler's failure, which was withheld from its client until it turned out that no stale response
 * replaces it.
 */
export function answerFromWithheld({ head, body }: { readonly head: ResponseHead; readonly body: Buffer }): Answer {
  const { 'transfer-encoding': _, ...fields } = copyOf(head.fields)
  const removed = Object.keys(head.before).filter((name) => !(name in head.fields))
  const whole = { body, form: head.form }
  return { status: head.status, fields: { ...fields, 'content-length': String(body.length) }, removed, body, whole }
}

/**
 * Sends an answer on a raw response; the fields that layers outside have set stay. The head goes with the
 * end, as that of a handler that sends a whole body: a layer outside may replace both there. If a layer
 * outside throws before the head is out, the response has no status or field of the answer, and again those
 * that the answer replaced: its handler may still respond.
 *
 * @example
 * import { type Answer, sendAnswer } from '@cattlegrid/http'
 *
 * const forward = (answer: Answer): void => sendAnswer(res, answer)
 */
export function sendAnswer(res: ServerResponse, answer: Answer): void {
  const { statusCode } = res
  const before = res.getHeaders()
  try {
    setAnswerFields(res, answer)
    // On a response of Express this write took 1.5 µs, and most answers have the status that is there.
    if (answer.status !== statusCode) res.statusCode = answer.status
    if (answer.body === undefined) res.end()
    else res.end(answer.body)
  } catch (error) {
    if (!isHeadSent(res)) {
      for (const name of changedFieldNames(answer)) setOrRemove(res, name, before[name])
      res.statusCode = statusCode
    }
    throw error
  }
}

export function setAnswerFields(res: ServerResponse, { removed, fields, extraFields }: Answer): void {
  for (const name of removed) res.removeHeader(name)
  setFields(res, fields)
  if (extraFields !== undefined) setFields(res, extraFields)
}

/** The names of the fields that the answer sets or removes. */
function changedFieldNames({ fields, extraFields, removed }: Answer): readonly string[] {
  return [...Object.keys(fields), ...Object.keys(extraFields ?? {}), ...removed]
}

function setOrRemove(res: ServerResponse, name: string, value: OutgoingHttpHeader | undefined): void {
  if (value === undefined) res.removeHeader(name)
  else res.setHeader(name, value)
}

function setFields(res: ServerResponse, fields: Answer['fields']): void {
  for (const name of Object.keys(fields)) res.setHeader(name, fields[name] ?? '')
}
