import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { Cache } from '@cattlegrid/core'
import type { AdapterServer, ContractAnswer, ContractRequest, ContractRoute } from '@cattlegrid/testkit'
import { H3, type H3Event, type HTTPMethod, type Middleware, serve } from 'h3'
import { cachedEventHandler, type CachedEventHandlerOptions } from '../../src/h3.ts'
import { type NodeObjects, seen, withSeen } from './contract-request.ts'

/** The contract's routes as a user of h3 would write them. */
export async function startH3(cache: Cache, routes: readonly ContractRoute[]): Promise<AdapterServer> {
  const app = new H3({ silent: true })
  for (const { method = 'GET', path, cache: options = {}, before, handle } of routes) {
    const outside: Middleware = (event, next) => {
      const node = nodeOf(event)
      const result = before?.(seenBy(event))
      for (const [name, value] of Object.entries(result?.headers ?? {})) event.res.headers.set(name, value)
      result?.wrap?.(node.outgoing)
      if (result?.refuse !== true) return next()
      event.res.status = 401
      return { error: 'who are you?' }
    }
    const own = withSeen<H3Event, Omit<CachedEventHandlerOptions, 'cache'>>(options, seenBy)
    const cached = cachedEventHandler(async (event) => resultOf(await handle(seenBy(event)), event), { ...own, cache })
    app.on(method as HTTPMethod, path, cached, { middleware: [outside] })
  }
  const options = { port: 0, hostname: '127.0.0.1', silent: true, gracefulShutdown: false, trustProxy: true } as const
  const server = serve(app, options)
  await server.ready()
  return { origin: (server.url ?? '').replace(/\/$/, ''), close: async () => await server.close(true) }
}

function seenBy(event: H3Event): ContractRequest {
  return seen(event.req, nodeOf(event))
}

/**
 * The objects of Node as the middleware outside has seen them. A subrequest has none: one stands for them, for what layers
 * know of the client.
 */
function nodeOf(event: H3Event): NodeObjects {
  event.context['node'] ??= event.runtime?.node ?? { req: { headers: {} }, res: {} }
  const { req, res } = event.context['node'] as { readonly req: IncomingMessage; readonly res: ServerResponse }
  return { incoming: req, outgoing: res }
}

function resultOf(answer: ContractAnswer, event: H3Event): unknown {
  if (answer.send === 'raw') {
    answer.write(nodeOf(event).outgoing)
    return null
  }
  for (const [name, value] of Object.entries(answer.headers))
    for (const [place, line] of [value].flat().entries()) event.res.headers[place === 0 ? 'set' : 'append'](name, line)
  event.res.status = answer.status
  if (answer.send === 'nothing') return null
  if (answer.send === 'stream') return Readable.toWeb(answer.body)
  return answer.send === 'bytes' ? new Uint8Array(answer.body) : answer.body
}
