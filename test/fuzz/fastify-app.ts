import { Readable } from 'node:stream'
import compress from '@fastify/compress'
import cattlegrid, { type FastifyRouteOptions } from '@cattlegrid/fastify'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Start } from '../composition/play.ts'
import { addedBy, failure, type Page, pageFor, passToWriteHead, refuses } from './page.ts'
import type { Layer, Stack } from './stack.ts'

type Query = Readonly<Record<string, unknown>>

/** Starts a Fastify app of the stack. Its layers outside are hooks; those inside are the beginning of the handler. */
export function fastifyApp(stack: Stack, { ttl, ...defaults }: FastifyRouteOptions): Start {
  return async (probe, cache) => {
    const app = Fastify({ forceCloseConnections: true })
    const config = ttl === undefined || cache === undefined ? {} : { cache: { ttl } }
    const register = async (): Promise<void> => {
      if (cache !== undefined) await app.register(cattlegrid, { cache, close: false, defaults })
    }
    app.addHook('onRequest', async (request) => {
      Object.assign(request, { user: request.headers['user-agent'] })
    })
    if (stack.cacheFirst) await register()
    for (const layer of stack.outside) await install(app, layer)
    if (!stack.cacheFirst) await register()
    if (stack.handlesErrors) app.setErrorHandler(handleError)
    app.get('/page', { config }, async (request, reply) => {
      probe.runs += 1
      if (stack.handler.later) await new Promise(setImmediate)
      return respond(stack, request, reply)
    })
    const changed = async ({ method, headers }: FastifyRequest, reply: FastifyReply): Promise<unknown> =>
      await reply.code(201).send({ method, by: headers['user-agent'] })
    app.route({ method: ['POST', 'PUT'], url: '/page', config, handler: changed })
    const port = Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port)
    return { port, close: () => app.close() }
  }
}

function handleError(
  error: { readonly statusCode?: number; readonly headers?: Record<string, string> },
  _request: FastifyRequest,
  reply: FastifyReply,
): unknown {
  return reply
    .code(error.statusCode ?? 500)
    .headers(error.headers ?? {})
    .send({ failed: true })
}

async function install(app: FastifyInstance, layer: Layer): Promise<void> {
  if (layer.does === 'compress') {
    if (!app.hasPlugin('@fastify/compress')) await app.register(compress, { threshold: 0 })
  } else if (layer.does.endsWith('late'))
    app.addHook('onSend', async ({ headers }, reply, payload) => {
      addTo(reply, addedBy(layer, headers))
      return payload
    })
  else
    app.addHook('onRequest', async ({ headers, query }, reply) => {
      if (refuses(layer, headers)) return await reply.code(401).send(`not ${headers['user-agent']}`)
      if (layer.does === 'redirect' && (query as Query)['b'] !== undefined) return await reply.redirect('/other')
      if (layer.does === 'pass to writeHead') passToWriteHead(reply.raw, addedBy(layer, headers))
      else addTo(reply, addedBy(layer, headers))
    })
}

function addTo(reply: FastifyReply, fields: Page['fields']): FastifyReply {
  for (const [name, value] of fields) {
    const before = name === 'vary' ? reply.getHeader(name) : undefined
    reply.header(name, before === undefined ? value : `${String(before)}, ${value}`)
  }
  return reply
}

function respond(stack: Stack, request: FastifyRequest, reply: FastifyReply): unknown {
  const { style, status } = stack.handler
  const { a } = request.query as Query
  if (style === 'throw') throw failure(Math.max(status, 400))
  for (const layer of stack.inside) {
    if (layer.does === 'fail' && a === '2') throw failure(500)
    addTo(reply, addedBy(layer, request.headers))
  }
  const user = (): unknown => (request as unknown as { readonly user?: unknown }).user
  const { text, fields } = pageFor(stack, { headers: request.headers, a, user })
  if (!style.startsWith('head')) return ENDS[style]?.(addTo(reply, fields).code(status), text)
  reply.hijack()
  const passed = style === 'head as a list' ? fields.flat() : Object.fromEntries(fields)
  if (style === 'head with a reason') return reply.raw.writeHead(status, 'Fine', passed).end(text)
  return reply.raw.writeHead(status, passed).end(text)
}

const ENDS: Readonly<Partial<Record<Stack['handler']['style'], (reply: FastifyReply, text: string) => unknown>>> = {
  send: (reply, text) => reply.send(text),
  json: (reply, text) => reply.send(JSON.stringify({ text })),
  end: (reply, text) => reply.send(Buffer.from(text)),
  length: (reply, text) => reply.header('content-length', text.length).send(text),
  writes: (reply, text) => reply.send(Readable.from([Buffer.from(text), Buffer.from(text)])),
  encoded: (reply, text) => reply.send(new Uint8Array(Buffer.from(text))),
  stream: (reply, text) => reply.send(Readable.from([text, text], { objectMode: false })),
  redirect: (reply) => reply.code(302).redirect('/other'),
  abort(reply, text) {
    const body = new Readable({ read: () => undefined })
    body.push(text)
    setImmediate(() => setImmediate(() => body.destroy(new Error('aborted'))))
    return reply.send(body)
  },
}
