import type { ServerResponse } from 'node:http'
import { currentAge } from './age.ts'
import { type Conditions, fieldsOfNotModified, notModified } from './conditional.ts'
import type { HeaderFields } from './header-fields.ts'
import type { RecordedResponse } from './recorded-response.ts'
import type { ResponseHead } from './recording.ts'

/** A whole answer, ready to be sent as it is. */
export interface Answer {
  readonly status: number
  /** Fields to set, by lower-case name, over what is set. `content-length` and, for a stored answer, `date` are among them. */
  readonly fields: Readonly<Record<string, string | string[]>>
  /** Fields to take away, set by layers outside ours. */
  readonly removed: readonly string[]
  /** undefined: no body, as for HEAD and 304. */
  readonly body: Buffer | undefined
}

/** How a recorded answer is to be served to one client. */
export interface Serving {
  readonly method: string
  readonly conditions: Conditions
  /** How long ago it was committed, ms. */
  readonly resident: number
  readonly cacheStatus: string | undefined
}

/** RFC 9111 section 4: the stored answer with its present `Age`; 304 where the client has it already; no body for HEAD. */
export function answerFrom(recorded: RecordedResponse, serving: Serving): Answer {
  const { status, removed, body } = recorded
  const fields = copyOf(recorded.fields)
  fields['age'] = String(currentAge(recorded.initialAge, serving.resident))
  if (serving.cacheStatus !== undefined) fields['cache-status'] = serving.cacheStatus
  if (notModified(serving.conditions, status, fields))
    return { status: 304, fields: fieldsOfNotModified(fields), removed, body: undefined }
  if (status !== 204) fields['content-length'] = String(body.length)
  return { status, fields, removed, body: serving.method === 'HEAD' || status === 204 ? undefined : body }
}

/** Layers outside append to the lists that they are given: the entry's own must not be among them. */
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

type Below = Readonly<Record<'writeHead' | 'end', (...args: never[]) => unknown>>

/** Writes an answer on a raw response; the fields that layers outside ours have set stay. `via`: its methods, where they were wrapped. */
export function sendAnswer(res: ServerResponse, answer: Answer, via: Below = res): void {
  for (const name of answer.removed) res.removeHeader(name)
  for (const [name, value] of Object.entries(answer.fields)) res.setHeader(name, value)
  Reflect.apply(via.writeHead, res, [answer.status])
  Reflect.apply(via.end, res, answer.body === undefined ? [] : [answer.body])
}
