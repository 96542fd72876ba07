import type { IncomingHttpHeaders } from 'node:http'
import { cookiesOf } from '../../request/request-key.ts'
import type { Route } from '../../route/route.ts'
import { selectingValue } from '../../fields/selecting-value.ts'
import type { VaryRecord } from '../../response/vary.ts'

/** The request fields that a subrequest carries: those that the key and `Vary` name, and those that the route adds. */
export function subrequestFields(
  headers: IncomingHttpHeaders,
  { keyed, refreshHeaders, eligibility }: Pick<Route, 'keyed' | 'refreshHeaders' | 'eligibility'>,
  record: VaryRecord | undefined,
): Record<string, string> {
  const credentials = eligibility.authorization === 'key' ? ['authorization'] : []
  const names = [...keyed.headers, ...(record?.vary ?? []), ...refreshHeaders, ...credentials]
  const clientCookies = cookiesOf(keyed.cookies.length === 0 ? undefined : headers.cookie)
  const cookies = keyed.cookies.flatMap((name) => clientCookies.get(name) ?? [])
  const values = names.map((name) => [name, selectingValue(name, headers)] as const)
  const present = values.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
  return { ...(cookies.length === 0 ? {} : { cookie: cookies.join('; ') }), ...Object.fromEntries(present) }
}
