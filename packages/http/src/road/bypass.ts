import { type BypassReason, bypassVerdict, type Forwarded } from '../response/cache-status.ts'
import type { Exchange } from './exchange.ts'
import { linesOf } from '../fields/header-fields.ts'
import { originForm } from '../request/eligible.ts'
import { addsReportFields, reportFields, type ReportRule } from '../response/report-fields.ts'
import { publishObservation } from './observation.ts'
import { noteVerdict } from './request-report.ts'
import { withQuery } from '../request/query.ts'
import type { Route } from '../route/route.ts'

/**
 * Lets the handler answer; `Cache-Status` gives the reason. `forwarded`: for `collapsed`, why the
 * request waited.
 */
export function bypass(
  exchange: Exchange,
  route: ReportRule & Pick<Route, 'mode' | 'query'>,
  why: BypassReason,
  forwarded: Forwarded = 'uri-miss',
): void {
  const { mode, query } = route
  const verdict = bypassVerdict(why, forwarded)
  noteVerdict(exchange, verdict)
  if (mode === 'observe') {
    const { method } = exchange
    const target = (): string => withQuery(originForm(exchange.target), query)
    publishObservation(() => ({ method, target: target(), would: 'run', why, status: undefined, took: 0 }))
  }
  if (addsReportFields(route))
    exchange.addFields((fields) => reportFields(route, (name) => linesOf(fields, name), { verdict }))
  exchange.pass()
}
