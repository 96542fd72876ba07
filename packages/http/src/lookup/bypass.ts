import { replaceMethods } from '../capture/response-methods.ts'
import { appendMember, type BypassReason, bypassMember, type Forwarded, type Member } from '../response/cache-status.ts'
import { addToHead, parseHead } from '../fields/head-arguments.ts'
import type { Exchange } from '../exchange.ts'
import { linesOf } from '../fields/header-fields.ts'
import { originForm } from '../request/eligible.ts'
import { publishObservation } from './observation.ts'
import { withQuery } from '../request/query.ts'
import type { Route } from '../route/route.ts'

/** Lets the handler answer; `Cache-Status` gives the reason. `forwarded`: for `collapsed`, why the request waited. */
export function bypass(
  exchange: Exchange,
  { cacheStatus: name, mode, query }: Pick<Route, 'cacheStatus' | 'mode' | 'query'>,
  why: BypassReason,
  forwarded: Forwarded = 'uri-miss',
): void {
  if (mode === 'observe') {
    const { method = '' } = exchange.req
    const target = (): string => withQuery(originForm(exchange.target), query)
    publishObservation(() => ({ method, target: target(), would: 'run', why, status: undefined, took: 0 }))
  }
  if (name !== undefined) addMember(exchange, name, bypassMember(why, forwarded))
  exchange.pass()
}

/** Adds the member when the head is written, after those of caches nearer the origin (RFC 9211 section 2). */
function addMember({ res }: Exchange, name: string, member: Member): void {
  let added = false
  const original = replaceMethods(res, {
    writeHead: (...args) => {
      if (added) return original('writeHead', args)
      added = true
      const { fields } = parseHead(res, args)
      const value = appendMember(linesOf(fields, 'cache-status'), name, member)
      return original('writeHead', addToHead(res, args, { 'cache-status': value }))
    },
  })
}
