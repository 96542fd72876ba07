import type { IncomingHttpHeaders } from 'node:http'
import { cookiesOf } from '../request/request-key.ts'
import type { Route } from '../route/route.ts'
import { selectingValue } from '../fields/selecting-value.ts'
import type { VaryRecord } from '../response/vary.ts'

/** The fields that the key and `Vary` name, and what the route adds: nothing else of a client's request goes into one of ours. */
export function nominatedFields(
  headers: IncomingHttpHeaders,
  { keyed, refreshHeaders, admission }: Pick<Route, 'keyed' | 'refreshHeaders' | 'admission'>,
  record: VaryRecord | undefined,
): Record<string, string> {
  const credentials = admission.authorization === 'key' ? ['authorization'] : []
  const names = [...keyed.headers, ...(record?.vary ?? []), ...refreshHeaders, ...credentials]
  const jar = cookiesOf(keyed.cookies.length === 0 ? undefined : headers.cookie)
  const cookies = keyed.cookies.flatMap((name) => jar.get(name) ?? [])
  const fields = names.map((name) => [name, selectingValue(name, headers)] as const)
  const sent = fields.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
  return { ...(cookies.length === 0 ? {} : { cookie: cookies.join('; ') }), ...Object.fromEntries(sent) }
}
