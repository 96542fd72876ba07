import type { IncomingMessage, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import type { Cache } from '@cattlegrid/core'
import type { AdapterServer, ContractAnswer, ContractRequest, ContractRoute } from '@cattlegrid/testkit'
import { createAdaptorServer, type HttpBindings } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import type { RouteOptions } from '@cattlegrid/http'
import { PERSONAL_FIELDS } from '@cattlegrid/http/binding'
import { honoCache, type HonoRouteOptions } from '../../src/hono.ts'
import { directivesOf } from '../../src/index.ts'

type App = Hono<{ Bindings: HttpBindings }>
type AppContext = Context<{ Bindings: HttpBindings }>

/** The contract's routes as a user of Hono would write them. */
export async function startHono(cache: Cache, routes: readonly ContractRoute[]): Promise<AdapterServer> {
  const app: App = new Hono()
  const cached = honoCache<{ Bindings: HttpBindings }>(cache, { app: () => app })
  app.onError((error, c) => {
    if ('getResponse' in error) return error.getResponse()
    const { status = 500 } = error as { readonly status?: number }
    return c.json({ error: error.message }, status as 500)
  })
  for (const { method = 'GET', path, cache: options, before, handle } of routes) {
    app.on(
      method,
      path,
      async (c, next) => {
        const result = before?.(seenBy(c))
        for (const [name, value] of Object.entries(result?.headers ?? {})) c.header(name, value)
        result?.wrap?.(c.env.outgoing)
        if (result?.refuse === true) return c.json({ error: 'who are you?' }, 401)
        return await next()
      },
      cached(ofContext(options)),
      async (c) => responseOf(await handle(seenBy(c)), c),
    )
  }
  return await listen(app)
}

/** Functions among the options of the contract get what every framework's request has: its fields by name. */
function ofContext(options: RouteOptions | undefined): HonoRouteOptions<{ Bindings: HttpBindings }> | undefined {
  if (options === undefined) return undefined
  const adapted = <T>(value: T): T =>
    typeof value === 'function' && value.constructor.name === 'Function'
      ? (((c: AppContext, ...rest: unknown[]) => (value as Function)(seenBy(c), ...rest)) as T)
      : value
  const ofRoute = Object.entries(options).map(([name, value]) => [name, adapted(value)])
  const key = Object.entries(options.key ?? {}).map(([name, value]) => [name, adapted(value)])
  return { ...Object.fromEntries(ofRoute), ...(options.key === undefined ? {} : { key: Object.fromEntries(key) }) }
}

async function listen(app: App): Promise<AdapterServer> {
  const server = createAdaptorServer({ fetch: (request, env) => app.fetch(trusting(request), env) }) as Server
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = async (): Promise<void> => {
    const closed = new Promise<unknown>((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  }
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

/** A server behind a proxy makes its requests of the forwarded scheme. */
function trusting(request: Request): Request {
  const [scheme] = request.headers.get('x-forwarded-proto')?.split(',') ?? []
  return scheme === undefined ? request : new Request(request.url.replace(/^http(?=:)/, scheme), request)
}

function seenBy(c: AppContext): ContractRequest {
  const { raw, method } = c.req
  const { pathname, search, searchParams } = new URL(raw.url)
  const { incoming, outgoing } = c.env
  return {
    method,
    url: pathname + search,
    headers: headersOf(raw, incoming),
    query: Object.fromEntries(searchParams),
    directives: directivesOf(raw),
    raw: { req: incoming, res: outgoing },
  }
}

/** The handlers of the contract read fields by name, and list them. No function of this file is between a handler and its read. */
function headersOf({ headers }: Request, incoming: IncomingMessage): ContractRequest['headers'] {
  const fields = {}
  for (const name of [...PERSONAL_FIELDS, ...OF_THE_CACHE, ...Object.keys(incoming.headers)]) {
    const enumerable = name in incoming.headers || name === 'cdn-loop'
    Object.defineProperty(fields, name, { configurable: true, enumerable, get: read.bind(headers, name) })
  }
  return fields
}

/** What the cache adds for the handler. */
const OF_THE_CACHE = ['cdn-loop', 'if-none-match', 'if-modified-since']

const read = function (this: Headers, name: string): string | undefined {
  return this.get(name) ?? undefined
}

function responseOf(answer: ContractAnswer, c: AppContext): Response {
  if (answer.send === 'raw') {
    answer.write(c.env.outgoing)
    return new Response(null)
  }
  for (const [name, value] of Object.entries(answer.headers))
    for (const [place, line] of [value].flat().entries()) c.header(name, line, { append: place > 0 })
  c.status(answer.status as 200)
  // A `Response` of such a status cannot have a body.
  if (answer.status === 204) return c.body(null)
  switch (answer.send) {
    case 'json':
      return c.json(answer.body as object)
    case 'text':
      return answer.headers['content-type'] === undefined ? c.text(answer.body) : c.body(answer.body)
    case 'bytes':
      return c.body(new Uint8Array(answer.body))
    case 'stream':
      return c.body(Readable.toWeb(answer.body) as ReadableStream<Uint8Array>)
    case 'nothing':
      return c.body(null)
  }
}
