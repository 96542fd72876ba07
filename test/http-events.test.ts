import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { type Cache, createCache } from '@cattlegrid/core'
import { expressCache } from '@cattlegrid/express'
import cattlegrid from '@cattlegrid/fastify'
import type { HttpEvent, RouteOptions } from '@cattlegrid/http'
import { createManualRuntime, type ManualRuntime } from '@cattlegrid/testkit'
import express from 'express'
import fastify from 'fastify'

type Handler = (id: string) => Promise<string>

/** Serves `/products/:id` through the cache of one framework. */
type Serve = (cache: Cache, options: RouteOptions, handler: Handler) => Promise<Server>

const throughExpress: Serve = async (cache, options, handler) => {
  const app = express()
  const router = express.Router()
  router.all('/products/:id', expressCache(cache)(options), async (req, res) => {
    res.send(await handler(req.params.id))
  })
  app.use('/shop', router)
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

const throughFastify: Serve = async (cache, options, handler) => {
  const app = fastify()
  await app.register(cattlegrid, { cache })
  app.route<{ Params: { id: string } }>({
    method: ['GET', 'POST'],
    url: '/shop/products/:id',
    config: { cache: options },
    handler: (request) => handler(request.params.id),
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app.server
}

let events: HttpEvent[] = []
let runtime: ManualRuntime
let cache: Cache
let server: Server | undefined
const listen = (message: unknown): void => void events.push(message as HttpEvent)

beforeEach(() => {
  events = []
  runtime = createManualRuntime()
  cache = createCache({ name: 'pages', runtime })
  subscribe('cattlegrid:http', listen)
})

afterEach(async () => {
  unsubscribe('cattlegrid:http', listen)
  server?.closeAllConnections()
  server?.close()
  await cache.close()
})

/** Resolves once the request was published: the client may have its response a little earlier. */
async function ask(path: string, init?: RequestInit): Promise<Response> {
  const before = events.length
  if (server === undefined) throw new Error('no server')
  const { port } = server.address() as AddressInfo
  const response = await fetch(`http://127.0.0.1:${port}${path}`, init)
  await response.text()
  for (let turn = 0; turn < 1000 && events.length === before; turn += 1) await new Promise(setImmediate)
  return response
}

describe.each([
  ['Express', throughExpress],
  ['Fastify', throughFastify],
])('%s publishes each request', (_, serve) => {
  it('with its route, verdict and reason, and without its URL', async () => {
    server = await serve(cache, { ttl: '10s', staleWhileRevalidate: '1m' }, async (id) => `product ${id}`)
    await ask('/shop/products/7?page=1')
    await ask('/shop/products/7?page=1')
    await runtime.advance(11_000)
    await ask('/shop/products/7?page=1')
    await ask('/shop/products/7', { headers: { authorization: 'Basic eDp5' } })
    await ask('/shop/products/7', { method: 'POST' })
    const about = {
      type: 'http',
      cache: 'pages',
      route: '/shop/products/:id',
      method: 'GET',
      status: 200,
      url: undefined,
    }
    expect(events).toMatchObject([
      { ...about, verdict: 'miss', role: 'leader', fwd: 'uri-miss', detail: undefined },
      { ...about, verdict: 'hit', role: 'none', fwd: undefined },
      { ...about, verdict: 'stale', role: 'none', detail: 'stale-while-revalidate' },
      { ...about, verdict: 'bypass', role: 'none', fwd: 'bypass', detail: 'authorization' },
      { ...about, verdict: 'bypass', fwd: 'method', method: 'POST' },
    ])
  })

  it('with the followers of one handler', async () => {
    let finish: (value: string) => void = () => undefined
    server = await serve(cache, { ttl: '10s' }, () => new Promise((resolve) => (finish = resolve)))
    const asked = [ask('/shop/products/7'), ask('/shop/products/7')]
    for (let turn = 0; turn < 10_000 && cache.stats().waiting < 2; turn += 1) await new Promise(setImmediate)
    await runtime.advance(300)
    finish('done')
    await Promise.all(asked)
    const seen = events.map(({ verdict, role, took }) => [verdict, role, took])
    expect(seen.toSorted(([one], [other]) => String(one).localeCompare(String(other)))).toEqual([
      ['collapsed', 'follower', 300],
      ['miss', 'leader', 300],
    ])
  })

  it('with the reason why its response is not stored', async () => {
    server = await serve(cache, { ttl: '10s', maxBodyBytes: 3 }, async () => 'too long')
    await ask('/shop/products/7')
    expect(events).toMatchObject([{ verdict: 'miss', detail: 'too-large' }])
  })

  it('with an error of the cache itself', async () => {
    server = await serve(cache, { ttl: '10s', clientDirectives: () => true }, async () => 'never')
    const { status } = await ask('/shop/products/7', { headers: { 'cache-control': 'only-if-cached' } })
    expect(status).toBe(504)
    expect(events).toMatchObject([{ verdict: 'error', detail: 'only-if-cached', status: 504 }])
  })

  it('with its URL where the route asks for that', async () => {
    server = await serve(cache, { ttl: '10s', eventUrl: true }, async () => 'page')
    await ask('/shop/products/7?page=1')
    expect(events).toMatchObject([{ url: '/shop/products/7?page=1' }])
  })

  it('and none to nobody', async () => {
    server = await serve(cache, { ttl: '10s' }, async () => 'page')
    unsubscribe('cattlegrid:http', listen)
    const { status } = await ask('/shop/products/7')
    expect(status).toBe(200)
    expect(events).toEqual([])
  })

  it('and says it in X-Cache where the route asks for that', async () => {
    server = await serve(cache, { ttl: '10s', staleWhileRevalidate: '1m', xCache: true }, async () => 'page')
    const said: (string | null)[] = []
    const listenTo = async (init?: RequestInit): Promise<void> => {
      said.push((await ask('/shop/products/7', init)).headers.get('x-cache'))
    }
    await listenTo()
    await listenTo()
    await runtime.advance(11_000)
    await listenTo()
    await listenTo({ headers: { authorization: 'Basic eDp5' } })
    expect(said).toEqual(['MISS', 'HIT', 'STALE', 'BYPASS'])
  })
})

describe('Fastify, in the phase before authentication,', () => {
  it('publishes a request once, hit or miss', async () => {
    server = await throughFastify(cache, { ttl: '10s', phase: 'onRequest' }, async () => 'page')
    await ask('/shop/products/7')
    await ask('/shop/products/7')
    expect(events.map(({ verdict }) => verdict)).toEqual(['miss', 'hit'])
  })
})
