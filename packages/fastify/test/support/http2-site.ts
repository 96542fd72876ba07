import { type ClientHttp2Stream, connect, type Http2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { createCache, memoryStore } from '@cattlegrid/core'
import { createManualRuntime, type ManualRuntime } from '@cattlegrid/testkit'
import Fastify, { type FastifyReply, type FastifyRequest, type RouteGenericInterface } from 'fastify'
import cattlegrid, { type FastifyRouteOptions } from '../../src/index.ts'
import { type Steps, stepsOf } from './cached-app.ts'

type Http2Request = FastifyRequest<RouteGenericInterface, Http2Server>
export type Http2Reply = FastifyReply<RouteGenericInterface, Http2Server>

interface Answer {
  readonly head: Readonly<Record<string, unknown>>
  readonly text: string
}

interface Site extends Pick<Steps, 'seen'> {
  readonly runtime: ManualRuntime
  open(path: string, fields?: Readonly<Record<string, string>>): ClientHttp2Stream
  ask(path: string, fields?: Readonly<Record<string, string>>): Promise<Answer>
}

type Handler = (request: Http2Request, reply: Http2Reply) => unknown

/** `/page` over HTTP/2 in clear text, and one connection of a client. */
export async function onHttp2(
  handler: Handler,
  play: (site: Site) => Promise<void>,
  route: FastifyRouteOptions = {},
): Promise<void> {
  const runtime = createManualRuntime()
  const cache = createCache({ runtime, store: memoryStore({ runtime }) })
  const app = Fastify({ http2: true })
  await app.register(cattlegrid, { cache, close: false })
  app.get('/page', { config: { cache: { ttl: '10s', ...route } } }, async (request, reply) => handler(request, reply))
  await app.listen({ port: 0, host: '127.0.0.1' })
  const session = connect(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`)
  const { seen } = stepsOf(cache)
  const open = (path: string, fields = {}): ClientHttp2Stream => session.request({ ':path': path, ...fields })
  try {
    await play({ runtime, open, seen, ask: (path, fields) => read(open(path, fields)) })
  } finally {
    session.destroy()
    await app.close()
    const closed = cache.close({ drain: 1 })
    await runtime.advance(1000)
    await closed
  }
}

async function read(stream: ClientHttp2Stream): Promise<Answer> {
  let head = {}
  stream.once('response', (fields) => {
    head = { ...fields }
  })
  let text = ''
  stream.setEncoding('utf8')
  for await (const chunk of stream) text += String(chunk)
  return { head, text }
}
