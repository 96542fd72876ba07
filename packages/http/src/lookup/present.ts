import { type Answer, answerFrom } from '../response/answer.ts'
import { statusFields, type Verdict } from '../response/cache-status.ts'
import { type Conditions, conditionsOf } from '../response/conditional.ts'
import type { Exchange } from '../exchange.ts'
import { type RangeRequest, rangeRequestOf } from '../response/range.ts'
import type { RecordedResponse } from '../response/recorded-response.ts'
import { isReported, noteVerdict } from './request-report.ts'
import type { Route } from '../route/route.ts'

/** The preconditions and the range of a request. Read them before a leader's handler runs: they are removed from its request. */
export interface ClientPreconditions {
  readonly conditions: Conditions | undefined
  /** undefined: the whole response is served. */
  readonly range: RangeRequest | undefined
}

/** The origin of the response that the cache sends. */
export interface Provenance {
  /** ms since its commit (RFC 9111 section 4.2.3). */
  readonly residentTime: number
  /** The time that the client waited for it, ms. */
  readonly waited: number
  /** Called only where somebody wants to know. */
  verdict(): Verdict
}

export function preconditionsOf({ req }: Exchange, { range }: Pick<Route, 'range'>): ClientPreconditions {
  return { conditions: conditionsOf(req.headers), range: range ? rangeRequestOf(req.headers) : undefined }
}

/** Makes this client's response from a recorded one, with the fields that the route adds, joined with those of outer layers. */
export function presentResponse<Req, Res>(
  exchange: Exchange<Req, Res>,
  route: Route<Req, Res>,
  response: RecordedResponse,
  { conditions, range }: ClientPreconditions,
  provenance: Provenance,
): Answer {
  const { cacheStatus, xCache, serverTiming, downstream, runtime } = route
  const isWanted = cacheStatus !== undefined || xCache || serverTiming || isReported(exchange)
  return answerFrom(response, {
    method: exchange.req.method ?? 'GET',
    conditions,
    range,
    residentTime: provenance.residentTime,
    date: downstream === 'reset' ? runtime.timeOfDay() : undefined,
    vary: exchange.field('vary')?.toString(),
    etag: conditions === undefined ? undefined : exchange.field('etag')?.toString(),
    added: isWanted ? reportFields(exchange, route, response, provenance) : undefined,
  })
}

function reportFields(
  exchange: Exchange,
  route: Pick<Route, 'cacheStatus' | 'xCache' | 'serverTiming'>,
  { fields }: RecordedResponse,
  provenance: Provenance,
): Record<string, string> {
  const verdict = provenance.verdict()
  noteVerdict(exchange, verdict)
  const before = fields['cache-status'] ?? exchange.field('cache-status')
  const status = statusFields(route, before, verdict)
  if (!route.serverTiming) return status
  return { ...status, 'server-timing': serverTimingOf(exchange.field('server-timing'), verdict, provenance) }
}

/** A metric with the kind of the response, and the time that its client waited, ms. */
function serverTimingOf(
  before: string | readonly string[] | undefined,
  { kind }: Verdict,
  { waited }: Provenance,
): string {
  const metric = `cattlegrid;desc=${kind};dur=${Math.round(waited)}`
  return before === undefined || before.length === 0 ? metric : `${String(before)}, ${metric}`
}
