import { type Answer, answerFrom } from '../response/answer.ts'
import { appendMember, type Member, type ServedKind } from '../response/cache-status.ts'
import { type Conditions, conditionsOf } from '../response/conditional.ts'
import type { Exchange } from '../exchange.ts'
import { type RangeRequest, rangeRequestOf } from '../response/range.ts'
import type { RecordedResponse } from '../response/recorded-response.ts'
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
  readonly kind: ServedKind
  /** Called only where the route sends `Cache-Status`. */
  member(): Member
}

export function preconditionsOf({ req }: Exchange, { range }: Pick<Route, 'range'>): ClientPreconditions {
  return { conditions: conditionsOf(req.headers), range: range ? rangeRequestOf(req.headers) : undefined }
}

/** Makes this client's response from a recorded one, with the fields that the route adds, joined with those of outer layers. */
export function presentResponse<Req, Res>(
  exchange: Exchange<Req, Res>,
  { cacheStatus, serverTiming, downstream, runtime }: Route<Req, Res>,
  response: RecordedResponse,
  { conditions, range }: ClientPreconditions,
  provenance: Provenance,
): Answer {
  const reportsCaching = cacheStatus !== undefined || serverTiming
  return answerFrom(response, {
    method: exchange.req.method ?? 'GET',
    conditions,
    range,
    residentTime: provenance.residentTime,
    date: downstream === 'reset' ? runtime.timeOfDay() : undefined,
    vary: exchange.field('vary')?.toString(),
    etag: conditions === undefined ? undefined : exchange.field('etag')?.toString(),
    added: reportsCaching ? reportFields(exchange, cacheStatus, serverTiming, response, provenance) : undefined,
  })
}

function reportFields(
  exchange: Exchange,
  cacheStatus: string | undefined,
  serverTiming: boolean,
  { fields }: RecordedResponse,
  provenance: Provenance,
): Record<string, string> {
  const before = fields['cache-status'] ?? exchange.field('cache-status')
  return {
    ...(cacheStatus === undefined ? {} : { 'cache-status': appendMember(before, cacheStatus, provenance.member()) }),
    ...(serverTiming ? { 'server-timing': serverTimingOf(exchange.field('server-timing'), provenance) } : {}),
  }
}

/** A metric with the kind of the response, and the time that its client waited, ms. */
function serverTimingOf(
  before: string | readonly string[] | undefined,
  { kind, waited }: Pick<Provenance, 'kind' | 'waited'>,
): string {
  const metric = `cattlegrid;desc=${kind};dur=${Math.round(waited)}`
  return before === undefined || before.length === 0 ? metric : `${String(before)}, ${metric}`
}
