import { replaceMethods } from '../capture/response-methods.ts'
import { type BypassReason, bypassVerdict, type Forwarded, type Verdict } from '../response/cache-status.ts'
import { addToHead, parseHead } from '../fields/head-arguments.ts'
import type { Exchange } from '../exchange.ts'
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
    const { method = '' } = exchange.req
    const target = (): string => withQuery(originForm(exchange.target), query)
    publishObservation(() => ({ method, target: target(), would: 'run', why, status: undefined, took: 0 }))
  }
  if (addsReportFields(route)) addReportFields(exchange, route, verdict)
  exchange.pass()
}

/**
 * Adds the fields when the head is written, the member after those of caches nearer the origin (RFC 9211
 * section 2).
 */
function addReportFields({ res }: Exchange, rule: ReportRule, verdict: Verdict): void {
  let isAdded = false
  const original = replaceMethods(res, {
    writeHead: (...args) => {
      if (isAdded) return original('writeHead', args)
      isAdded = true
      const { fields } = parseHead(res, args)
      const added = reportFields(rule, (name) => linesOf(fields, name), { verdict })
      return original('writeHead', addToHead(res, args, added))
    },
  })
}
