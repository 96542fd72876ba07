import { type Answer, answerFrom } from '../response/answer.ts'
import { appendMember, type Member } from '../response/cache-status.ts'
import { type Conditions, conditionsOf } from '../response/conditional.ts'
import type { Exchange } from '../exchange.ts'
import { type RangeRequest, rangeRequestOf } from '../response/range.ts'
import type { RecordedResponse } from '../response/recorded-response.ts'
import type { Route } from '../route/route.ts'

/** What a client wants of an answer; taken down before its own handler may be shown less. */
export interface ClientPreconditions {
  readonly conditions: Conditions | undefined
  /** undefined: parts are not served. */
  readonly range: RangeRequest | undefined
}

/** How a recorded answer came to this request. */
export interface Provenance {
  /** How long ago it was committed, ms. */
  readonly resident: number
  /** How long its client waited for it, ms. */
  readonly waited: number
  /** Asked for where the route tells it. */
  member(): Member
}

export function preconditionsOf({ req }: Exchange, { range }: Pick<Route, 'range'>): ClientPreconditions {
  return { conditions: conditionsOf(req.headers), range: range ? rangeRequestOf(req.headers) : undefined }
}

/** A recorded answer as this client is to get it: the one place for what a route adds, and for what layers outside have set. */
export function presentResponse<Req, Res>(
  exchange: Exchange<Req, Res>,
  { cacheStatus, serverTiming, downstream, runtime }: Route<Req, Res>,
  response: RecordedResponse,
  { conditions, range }: ClientPreconditions,
  arrival: Provenance,
): Answer {
  const tells = cacheStatus !== undefined || serverTiming
  return answerFrom(response, {
    method: exchange.req.method ?? 'GET',
    conditions,
    range,
    resident: arrival.resident,
    madeAt: downstream === 'reset' ? runtime.timeOfDay() : undefined,
    vary: exchange.field('vary')?.toString(),
    added: tells ? addedFields(exchange, cacheStatus, serverTiming, response, arrival) : undefined,
  })
}

function addedFields(
  exchange: Exchange,
  cacheStatus: string | undefined,
  serverTiming: boolean,
  { fields }: RecordedResponse,
  arrival: Provenance,
): Record<string, string> {
  const member = arrival.member()
  const before = fields['cache-status'] ?? exchange.field('cache-status')
  return {
    ...(cacheStatus === undefined ? {} : { 'cache-status': appendMember(before, cacheStatus, member) }),
    ...(serverTiming
      ? { 'server-timing': serverTimingOf(exchange.field('server-timing'), member, arrival.waited) }
      : {}),
  }
}

/** How this answer came, and how long its client waited for it, ms. */
function serverTimingOf(before: string | readonly string[] | undefined, member: Member, waited: number): string {
  const [word = ''] = /stale|collapsed|hit/.exec(member) ?? []
  const ours = `cattlegrid;desc=${word};dur=${Math.round(waited)}`
  return before === undefined || before.length === 0 ? ours : `${String(before)}, ${ours}`
}
