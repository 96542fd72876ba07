import { AsyncLocalStorage } from 'node:async_hooks'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Cache } from '@cattlegrid/core'
import { expressCache, type RouteOptions } from '@cattlegrid/express'
import cattlegrid from '@cattlegrid/fastify'
import express, { type Express, type Request, type RequestHandler } from 'express'
import Fastify from 'fastify'

/** An app whose page names its client, by a way that no rule of the cache watches. */
export type LeakingApp = (cache: Cache, options: RouteOptions) => Promise<Server>

/** Who asks, as a layer outside of the cache finds out. */
function clientOf({ headers }: IncomingMessage): string {
  return /who=(\w+)/.exec(headers.cookie ?? '')?.[1] ?? 'nobody'
}

/** `plant` adds the layers outside of the cache, and returns what the handler says. */
function onExpress(plant: (app: Express, server: Server) => (req: Request) => string): LeakingApp {
  return async (cache, options) => {
    const app = express()
    const server = createServer(app as RequestListener)
    const page = plant(app, server)
    const handler: RequestHandler = (req, res) => void res.type('text').send(`This page is for ${page(req)}.`)
    app.get('/page', expressCache(cache)(options) as RequestHandler, handler)
    return server
  }
}

const storage = new AsyncLocalStorage<string>()
const WHO = Symbol('who')
const known = new WeakMap<IncomingMessage, string>()

class Visit {
  readonly #client: string
  constructor(client: string) {
    this.#client = client
  }

  static of(req: object): string {
    return (req as unknown as { readonly visit: Visit }).visit.#client
  }
}

/** The cookie of a client, as a listener finds it in the bytes of its connection. */
function clientsByBytes(server: Server): (socket: Socket) => string {
  const clients = new WeakMap<Socket, string>()
  server.on('connection', (socket) => {
    socket.prependListener('data', (bytes: Buffer) => {
      const client = /who=(\w+)/.exec(bytes.toString('latin1'))?.[1]
      if (client !== undefined) clients.set(socket, client)
    })
  })
  return (socket) => clients.get(socket) ?? 'nobody'
}

export const leaks: Readonly<Record<string, LeakingApp>> = {
  'a store of AsyncLocalStorage': onExpress((app) => {
    app.use((req, _res, next) => storage.run(clientOf(req), next))
    return () => storage.getStore() ?? 'nobody'
  }),
  'a symbol on the request': onExpress((app) => {
    app.use((req, _res, next) => {
      Reflect.set(req, WHO, clientOf(req))
      next()
    })
    return (req) => String(Reflect.get(req, WHO))
  }),
  'res.locals': onExpress((app) => {
    app.use((req, res, next) => {
      res.locals['who'] = clientOf(req)
      next()
    })
    return ({ res }) => String(res?.locals['who'])
  }),
  'a property of the socket': onExpress((app) => {
    app.use((req, _res, next) => {
      Object.assign(req.socket, { who: clientOf(req) })
      next()
    })
    return (req) => (req.socket as Socket & { who: string }).who
  }),
  'a hook before the serialization': async (cache, options) => {
    const app = Fastify()
    app.addHook('onRequest', async ({ raw }) => void known.set(raw, clientOf(raw)))
    app.addHook('preSerialization', async ({ raw }, _reply, page: object) => ({ ...page, reader: known.get(raw) }))
    await app.register(cattlegrid, { cache })
    app.get('/page', { config: { cache: options } }, async () => ({ page: 1 }))
    await app.ready()
    return app.server
  },
  'a copied reference to rawHeaders': onExpress((app) => {
    const lists = new WeakMap<IncomingMessage, readonly string[]>()
    app.use((req, _res, next) => {
      lists.set(req, [...req.rawHeaders])
      next()
    })
    return (req) => lists.get(req)?.find((value) => value.startsWith('who=')) ?? 'nobody'
  }),
  'a variable of the module': onExpress((app) => {
    let latest = 'nobody'
    app.use((req, _res, next) => {
      latest = clientOf(req)
      next()
    })
    return () => latest
  }),
  'a WeakMap of requests': onExpress((app) => {
    app.use((req, _res, next) => {
      known.set(req, clientOf(req))
      next()
    })
    return (req) => known.get(req) ?? 'nobody'
  }),
  'the bytes of the connection': onExpress((_app, server) => {
    const clients = clientsByBytes(server)
    return ({ socket }) => clients(socket)
  }),
  'a send that an outer layer wraps': onExpress((app) => {
    app.use((req, res, next) => {
      const { send } = res
      const client = clientOf(req)
      res.send = (body: string) => send.call(res, body.replace('its reader', client))
      next()
    })
    return () => 'its reader'
  }),
  'the address, by a captured function': onExpress((app) => {
    const addresses = new WeakMap<IncomingMessage, () => string | undefined>()
    app.use((req, _res, next) => {
      addresses.set(req, () => req.ip)
      next()
    })
    return (req) => addresses.get(req)?.() ?? 'nobody'
  }),
  'a private field of an object on the request': onExpress((app) => {
    app.use((req, _res, next) => {
      Object.assign(req, { visit: new Visit(clientOf(req)) })
      next()
    })
    return (req) => Visit.of(req)
  }),
}

/** Apps whose layers outside write the name into each response, also into one from the cache. */
export const personalLayers: Readonly<Record<string, LeakingApp>> = {
  'an onSend hook of Fastify': async (cache, options) => {
    const app = Fastify()
    app.addHook('onSend', async (request, _reply, payload) => `${clientOf(request.raw)}: ${String(payload)}`)
    await app.register(cattlegrid, { cache })
    app.get('/page', { config: { cache: options } }, async () => 'This page is for its reader.')
    await app.ready()
    return app.server
  },
  'an end that an outer layer wraps': onExpress((app) => {
    app.use((req, res, next) => {
      const end = res.end.bind(res)
      res.end = (chunk: unknown, ...rest: readonly unknown[]) => {
        const text = `${clientOf(req)}: ${String(chunk)}`
        res.setHeader('content-length', Buffer.byteLength(text))
        return Reflect.apply(end, res, [text, ...rest])
      }
      next()
    })
    return () => 'its reader'
  }),
}
