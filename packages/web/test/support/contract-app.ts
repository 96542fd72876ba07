import type { Server } from 'node:http'
import { Readable } from 'node:stream'
import type { Cache } from '@cattlegrid/core'
import type { AdapterServer, ContractAnswer, ContractRequest, ContractRoute } from '@cattlegrid/testkit'
import { createAdaptorServer, type HttpBindings } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { honoCache, type HonoRouteOptions } from '../../src/hono.ts'
import { listen, seen, withSeen } from './contract-request.ts'

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
      cached(options && withSeen<AppContext, HonoRouteOptions<{ Bindings: HttpBindings }>>(options, seenBy)),
      async (c) => responseOf(await handle(seenBy(c)), c),
    )
  }
  return await listen(createAdaptorServer({ fetch: (request, env) => app.fetch(trusting(request), env) }) as Server)
}

/** A server behind a proxy makes its requests of the forwarded scheme. */
function trusting(request: Request): Request {
  const [scheme] = request.headers.get('x-forwarded-proto')?.split(',') ?? []
  return scheme === undefined ? request : new Request(request.url.replace(/^http(?=:)/, scheme), request)
}

function seenBy(c: AppContext): ContractRequest {
  return seen(c.req.raw, c.env)
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
