import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { RouteOptions } from '@cattlegrid/http'
import { PERSONAL_FIELDS } from '@cattlegrid/http/binding'
import type { AdapterServer, ContractRequest } from '@cattlegrid/testkit'
import { directivesOf } from '../../src/index.ts'

/** Node's request and response. */
export interface NodeObjects {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
}

/** What the handlers of the contract see of a request. */
export function seen(raw: Request, node: NodeObjects): ContractRequest {
  const { pathname, search, searchParams } = new URL(raw.url)
  return {
    method: raw.method,
    url: pathname + search,
    headers: headersOf(raw, node),
    query: Object.fromEntries(searchParams),
    directives: directivesOf(raw),
    raw: { req: node.incoming, res: node.outgoing },
  }
}

/** Functions among the options of the contract get what every framework's request has: its fields by name. */
export function withSeen<Given, Options>(options: RouteOptions, seenBy: (given: Given) => ContractRequest): Options {
  const adapted = (value: unknown): unknown =>
    typeof value === 'function' && value.constructor.name === 'Function'
      ? (given: Given, ...rest: unknown[]) => value(seenBy(given), ...rest)
      : value
  const ofRoute = Object.entries(options).map(([name, value]) => [name, adapted(value)])
  const key = Object.entries(options.key ?? {}).map(([name, value]) => [name, adapted(value)])
  const own = options.key === undefined ? {} : { key: Object.fromEntries(key) }
  return { ...Object.fromEntries(ofRoute), ...own } as Options
}

export async function listen(server: Server): Promise<AdapterServer> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = async (): Promise<void> => {
    const closed = new Promise<unknown>((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  }
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

/** The handlers of the contract read fields by name, and list them. No function of this file is between a handler and its read. */
function headersOf({ headers }: Request, { incoming }: NodeObjects): ContractRequest['headers'] {
  const fields = {}
  const given = Object.keys(incoming.headers).length > 0 ? incoming.headers : Object.fromEntries(headers)
  for (const name of [...PERSONAL_FIELDS, ...OF_THE_CACHE, ...Object.keys(given)]) {
    const enumerable = name in given || name === 'cdn-loop'
    Object.defineProperty(fields, name, { configurable: true, enumerable, get: read.bind(headers, name) })
  }
  return fields
}

/** What the cache adds for the handler. */
const OF_THE_CACHE = ['cdn-loop', 'if-none-match', 'if-modified-since']

const read = function (this: Headers, name: string): string | undefined {
  return this.get(name) ?? undefined
}
