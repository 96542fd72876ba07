import type { ServerResponse } from 'node:http'
import { currentAge } from './age.ts'
import { type Conditions, fieldsOfNotModified, notModified } from './conditional.ts'
import type { HeaderFields } from '../fields/header-fields.ts'
import { formatHttpDate } from '../fields/http-date.ts'
import { cutOf, type RangeRequest } from './range.ts'
import type { RecordedResponse } from './recorded-response.ts'
import type { ResponseHead } from './response-head.ts'
import { mergeVary } from './vary.ts'

/** A whole answer, ready to be sent as it is. */
export interface Answer {
  readonly status: number
  /** Fields to set, by lower-case name, over what is set. `content-length` and, for a stored answer, `date` are among them. */
  readonly fields: Readonly<Record<string, string | string[]>>
  /** More of them, over these: what this answer alone says, where `fields` is what every answer of its entry repeats. */
  readonly own?: Readonly<Record<string, string>> | undefined
  /** Fields to take away, set by layers outside ours. */
  readonly removed: readonly string[]
  /** undefined: no body, as for HEAD and 304. */
  readonly body: Buffer | undefined
}

/** How a recorded answer is to be served to one client. */
export interface Serving {
  readonly method: string
  readonly conditions: Conditions | undefined
  /** undefined: parts are not served. */
  readonly range: RangeRequest | undefined
  /** How long ago it was committed, ms. */
  readonly resident: number
  /** The present time of day, where the answer is to look as if it were made now. */
  readonly madeAt: number | undefined
  /** Fields that are new with each answer, such as `Cache-Status`. */
  readonly added: Readonly<Record<string, string>> | undefined
  /** What layers outside vary by. */
  readonly vary: string | undefined
}

/** What every answer made of one recorded answer repeats. */
interface Head {
  readonly fields: Readonly<Record<string, string | string[]>>
  /** The fields with several lines: layers outside append to the lists that they are given, and the entry's own must not be among them. */
  readonly lists: readonly string[]
}

/** Made once for each: most are served again and again. */
const heads = new WeakMap<RecordedResponse, Head>()

/** RFC 9111 section 4: the stored answer with its present `Age`; 304 where the client has it already; no body for HEAD. */
export function answerFrom(recorded: RecordedResponse, serving: Serving): Answer {
  const { status, removed, body } = recorded
  const { conditions, method, range } = serving
  const head = heads.get(recorded) ?? headOf(recorded)
  const fields = head.lists.length === 0 ? head.fields : copyOf(head.fields)
  const own = ownFields(recorded, head, serving)
  const less =
    conditions === undefined && range === undefined ? undefined : lessThan(recorded, { ...fields, ...own }, serving)
  return less ?? { status, fields, own, removed, body: method === 'HEAD' || status === 204 ? undefined : body }
}

/** Nothing of the body, or a part of it, where that is all that its client needs. */
function lessThan(
  { status, removed, body }: RecordedResponse,
  fields: Answer['fields'],
  { conditions, method, range }: Serving,
): Answer | undefined {
  if (notModified(conditions, status, fields))
    return { status: 304, fields: fieldsOfNotModified(fields), removed, body: undefined }
  const cut = range === undefined || method !== 'GET' || status !== 200 ? undefined : cutOf(range, fields, body.length)
  if (cut === undefined) return undefined
  if (cut.kind === 'outside') return unsatisfied(fields, removed, body.length)
  const part = body.subarray(cut.from, cut.to + 1)
  const length = {
    'content-range': `bytes ${cut.from}-${cut.to}/${body.length}`,
    'content-length': String(part.length),
  }
  return { status: 206, fields: { ...fields, ...length }, removed, body: part }
}

function ownFields(
  { status, initialAge }: RecordedResponse,
  { fields }: Head,
  { resident, madeAt, range, added, vary }: Serving,
): Record<string, string> {
  const own: Record<string, string> =
    madeAt === undefined ? { age: String(currentAge(initialAge, resident)) } : { date: formatHttpDate(madeAt) }
  if (vary !== undefined) own['vary'] = mergeVary(vary, fields['vary']?.toString()) ?? vary
  if (range !== undefined && status === 200 && fields['accept-ranges'] === undefined) own['accept-ranges'] = 'bytes'
  return added === undefined ? own : Object.assign(own, added)
}

function headOf(recorded: RecordedResponse): Head {
  const { status, fields, body } = recorded
  const length = status === 204 ? {} : { 'content-length': String(body.length) }
  const lists = Object.keys(fields).filter((name) => typeof fields[name] !== 'string')
  const head = { fields: { ...fields, ...length }, lists }
  heads.set(recorded, head)
  return head
}

/** RFC 9110 section 15.5.17. */
function unsatisfied(fields: Answer['fields'], removed: readonly string[], length: number): Answer {
  const { date = [], age = [], 'cache-status': status = [] } = fields
  const kept = Object.entries({ date, age, 'cache-status': status }).filter(([, value]) => value.length > 0)
  const own = { 'content-range': `bytes */${length}`, 'content-length': '0' }
  return { status: 416, fields: { ...Object.fromEntries(kept), ...own }, removed, body: Buffer.alloc(0) }
}

function copyOf(fields: HeaderFields): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
  )
}

/** A failure that was kept from its client and turns out to be all there is. */
export function answerFromWithheld({ head, body }: { readonly head: ResponseHead; readonly body: Buffer }): Answer {
  const { 'transfer-encoding': _, ...fields } = copyOf(head.fields)
  const removed = Object.keys(head.before).filter((name) => !(name in head.fields))
  return { status: head.status, fields: { ...fields, 'content-length': String(body.length) }, removed, body }
}

type AnswerMethods = Readonly<Record<'writeHead' | 'end', (...args: never[]) => unknown>>

/** Writes an answer on a raw response; the fields that layers outside ours have set stay. `via`: its methods, where they were wrapped. */
export function sendAnswer(res: ServerResponse, answer: Answer, via: AnswerMethods = res): void {
  for (const name of answer.removed) res.removeHeader(name)
  for (const fields of [answer.fields, answer.own ?? {}])
    for (const name of Object.keys(fields)) res.setHeader(name, fields[name] ?? '')
  Reflect.apply(via.writeHead, res, [answer.status])
  Reflect.apply(via.end, res, answer.body === undefined ? [] : [answer.body])
}
