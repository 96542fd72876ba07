import type { IncomingHttpHeaders } from 'node:http'
import { cookiesOf } from '../request/request-key.ts'
import type { Route } from '../route/route.ts'
import { receivedValue, selectingValue } from '../fields/selecting-value.ts'
import type { VaryRecord } from '../response/vary.ts'

/**
 * The fields of a subrequest: those that the key and `Vary` name, as the key holds them; cookies and
 * credentials in the key, and `refreshHeaders`.
 */
export function subrequestFields(
  headers: IncomingHttpHeaders,
  { keyRule, refreshHeaders, eligibility }: Pick<Route, 'keyRule' | 'refreshHeaders' | 'eligibility'>,
  record: VaryRecord | undefined,
): Record<string, string> {
  const credentials = eligibility.authorization === 'key' ? ['authorization'] : []
  const selecting = [...keyRule.headers, ...(record?.vary ?? [])].map(
    (name) => [name, selectingValue(name, headers)] as const,
  )
  const others = [...refreshHeaders, ...credentials].map((name) => [name, receivedValue(name, headers)] as const)
  const clientCookies = cookiesOf(keyRule.cookies.length === 0 ? undefined : headers.cookie)
  const cookies = keyRule.cookies.flatMap((name) => clientCookies.get(name) ?? [])
  const present = [...selecting, ...others].filter((field): field is [string, string] => field[1] !== undefined)
  return { ...(cookies.length === 0 ? {} : { cookie: cookies.join('; ') }), ...Object.fromEntries(present) }
}
