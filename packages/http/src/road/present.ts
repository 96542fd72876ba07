import { type Answer, answerFrom } from '../response/answer.ts'
import type { Verdict } from '../response/cache-status.ts'
import { type Conditions, conditionsOf } from '../response/conditional.ts'
import type { Exchange } from './exchange.ts'
import { type HeaderFields, toText } from '../fields/header-fields.ts'
import { continued } from '../response/recorded-fields.ts'
import { type RangeRequest, rangeRequestOf } from '../response/range.ts'
import type { RecordedResponse } from '../response/recorded-response.ts'
import { addsReportFields, type Report, reportFields } from '../response/report-fields.ts'
import { isReported, noteVerdict } from './request-report.ts'
import type { Route } from '../route/route.ts'

/**
 * The preconditions and the range of a request. Read them before a leader's handler runs: they are removed
 * from its request.
 */
export interface ClientPreconditions {
  readonly conditions: Conditions | undefined
  /** undefined: the whole response is served. */
  readonly range: RangeRequest | undefined
}

/** The origin of the response that the cache sends. */
export interface Provenance extends Omit<Report, 'verdict'> {
  /** ms since its commit (RFC 9111 section 4.2.3). */
  readonly residentTime: number
  /** Called only where somebody wants to know. */
  verdict(): Verdict
}

export function preconditionsOf({ headers }: Exchange, { range }: Pick<Route, 'range'>): ClientPreconditions {
  return { conditions: conditionsOf(headers), range: range ? rangeRequestOf(headers) : undefined }
}

/**
 * Makes this client's response from a recorded one, with the fields that the route adds, joined with those of
 * outer layers.
 */
export function presentResponse(
  exchange: Exchange,
  route: Route,
  response: RecordedResponse,
  { conditions, range }: ClientPreconditions,
  provenance: Provenance,
): Answer {
  const { downstream, runtime, outerBodies } = route
  const answer = answerFrom(response, {
    method: exchange.method,
    conditions,
    range,
    residentTime: provenance.residentTime,
    date: downstream === 'reset' ? runtime.timeOfDay() : undefined,
    continued: response.appended === undefined ? undefined : continuedFields(exchange, response.appended),
    isFramed: exchange.field('transfer-encoding') !== undefined,
    vary: exchange.field('vary')?.toString(),
    keepsBodies: outerBodies.kept,
    etag: conditions === undefined ? undefined : exchange.field('etag')?.toString(),
    added:
      addsReportFields(route) || isReported(exchange) ? addedFields(exchange, route, response, provenance) : undefined,
  })
  if (answer.body !== undefined) exchange.watchBody(outerBodies, response, answer.body)
  return answer
}

/** What this request's layers outside have set, with what the handler appended to it. */
function continuedFields(
  exchange: Exchange,
  appended: NonNullable<RecordedResponse['appended']>,
): Record<string, string | string[]> {
  const entries = Object.entries(appended)
  return Object.fromEntries(entries.map(([name, value]) => [name, continued(toText(exchange.field(name)), value)]))
}

function addedFields(
  exchange: Exchange,
  route: Route,
  { fields, appended }: RecordedResponse,
  provenance: Provenance,
): Record<string, string> {
  const verdict = provenance.verdict()
  noteVerdict(exchange, verdict)
  const before = (name: string): HeaderFields[string] | undefined => {
    const own = appended?.[name]
    if (fields[name] !== undefined) return fields[name]
    const outer = toText(exchange.field(name))
    return own === undefined ? outer : continued(outer, own)
  }
  return reportFields(route, before, { ...provenance, verdict })
}
