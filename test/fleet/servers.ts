import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Cache } from '@cattlegrid/core'
import { expressCache, isRefresh } from '@cattlegrid/express'
import cattlegrid from '@cattlegrid/fastify'
import createExpress from 'express'
import createFastify from 'fastify'

type Load = (path: string) => Promise<string>

/** A connection that is closed for idleness just when a slow client uses it again would look like a failure. */
const NEVER = 0

const ROUTE = { ttl: '1h', staleWhileRevalidate: '10m' } as const

let requests = 0

/** How many requests of clients have reached the server of this process. */
export function requestsSeen(): number {
  return requests
}

const countRequests = (server: Server): unknown =>
  server.on('request', (req) => {
    if (!isRefresh(req)) requests += 1
  })

/** `/value/:name` asks the origin for what it answers; `/cookie/:name` sets a cookie for whoever asks. Returns the port. */
export async function express(cache: Cache, load: Load): Promise<number> {
  const cached = expressCache(cache)
  const app = createExpress().set('trust proxy', true)
  app.get('/value/:name', cached(ROUTE), async (req, res) => {
    res.send(await load(`/${req.params.name}`))
  })
  app.get('/cookie/:name', cached(ROUTE), async (req, res) => {
    const user = String(req.headers['x-user'])
    await load(`/${req.params.name}`)
    res.cookie('user', user).send(`for ${user}`)
  })
  return new Promise((resolve) => {
    const server = app.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
    server.keepAliveTimeout = NEVER
    countRequests(server)
  })
}

/** The same routes on Fastify. */
export async function fastify(cache: Cache, load: Load): Promise<number> {
  const app = createFastify({ trustProxy: true, keepAliveTimeout: NEVER })
  await app.register(cattlegrid, { cache })
  app.get<{ Params: { name: string } }>('/value/:name', { config: { cache: ROUTE } }, (req) =>
    load(`/${req.params.name}`),
  )
  app.get<{ Params: { name: string } }>('/cookie/:name', { config: { cache: ROUTE } }, async (req, reply) => {
    const user = String(req.headers['x-user'])
    await load(`/${req.params.name}`)
    return reply.header('set-cookie', `user=${user}`).send(`for ${user}`)
  })
  countRequests(app.server)
  await app.listen({ port: 0, host: '127.0.0.1' })
  return (app.server.address() as AddressInfo).port
}
