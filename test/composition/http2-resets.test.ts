import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ClientHttp2Session, connect, constants, createServer, type Http2ServerRequest } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type Cache, createCache } from '@cattlegrid/core'
import { compileRoute, httpCache, nextDeclaration, MiddlewareExchange, serve } from '@cattlegrid/http'
import { describe, expect, test } from '@jest/globals'

type Listener = (req: IncomingMessage, res: ServerResponse) => void

/** Every wait ends: a stream that is reset emits less than one that ends. */
const within = (): { readonly signal: AbortSignal } => ({ signal: AbortSignal.timeout(3000) })

function cachedListener(cache: Cache, handler: Listener): Listener {
  const http = httpCache(cache)
  const route = compileRoute('cached', http, undefined, { ttl: 'origin' })
  const declaration = nextDeclaration(http)
  class ServerExchange extends MiddlewareExchange {
    dispatch(req: IncomingMessage, res: ServerResponse): void {
      listener(req, res)
    }
  }
  const listener: Listener = (req, res) =>
    serve(new ServerExchange(req, res, () => handler(req, res), declaration), route)
  return listener
}

async function withSession<T>(port: number, use: (session: ClientHttp2Session) => Promise<T>): Promise<T> {
  const session = connect(`http://127.0.0.1:${port}`)
  try {
    await once(session, 'connect', within())
    return await use(session)
  } finally {
    session.destroy()
  }
}

/** Lets a client reset its POST while the handler runs; `end` ends the response after that. Returns what would have ended the process. */
async function resetPost(end: (res: ServerResponse) => void): Promise<{ trouble: unknown[]; next: string }> {
  const cache = createCache()
  const trouble: unknown[] = []
  const note = (error: unknown): void => void trouble.push(error)
  process.on('unhandledRejection', note).on('uncaughtException', note)
  const steps = new EventTarget()
  const listener = cachedListener(cache, (req, res) => {
    if (req.method === 'GET') return void res.end('alive')
    const { stream } = req as unknown as Http2ServerRequest
    stream.once('close', () => {
      // Only now a response has no socket any more.
      setImmediate(() => {
        end(res)
        steps.dispatchEvent(new Event('ended'))
      })
    })
    steps.dispatchEvent(new Event('begun'))
  })
  const server = createServer(listener as unknown as Parameters<typeof createServer>[1]).listen(0, '127.0.0.1')
  try {
    await once(server, 'listening', within())
    const { port } = server.address() as AddressInfo
    await withSession(port, async (session) => {
      const [begun, ended] = ['begun', 'ended'].map((step) => once(steps, step, within()))
      const stream = session.request({ ':method': 'POST', ':path': '/page' }).on('error', () => undefined)
      stream.end('{}')
      await begun
      stream.close(constants.NGHTTP2_CANCEL)
      await ended
    })
    // Rejections that nobody handles are reported after the microtasks.
    for (let turn = 0; turn < 4; turn += 1) await new Promise(setImmediate)
    const next = await withSession(port, (session) => text(session.request({ ':path': '/page' })))
    return { trouble, next }
  } finally {
    process.off('unhandledRejection', note).off('uncaughtException', note)
    server.close()
    await cache.close({ drain: 1 })
  }
}

describe('a client that resets its POST over HTTP/2 does not end the process', () => {
  test.each<[string, (res: ServerResponse) => void]>([
    ['ends its response', (res) => void res.end('done')],
    ['writes and ends its response', (res) => void res.writeHead(201).end('done')],
    ['ends and destroys its response', (res) => void res.end('done').destroy()],
    [
      'ends its response and destroys the connection, as far as it finds one',
      (res) => {
        res.end('done')
        res.socket?.destroy()
      },
    ],
  ])('when its handler %s', async (_what, end) => {
    expect(await resetPost(end)).toEqual({ trouble: [], next: 'alive' })
  })
})
