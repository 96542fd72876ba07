import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import caching from '@fastify/caching'
import compress from '@fastify/compress'
import cookie from '@fastify/cookie'
import cors from '@fastify/cors'
import csrf from '@fastify/csrf-protection'
import etag from '@fastify/etag'
import express from '@fastify/express'
import helmet from '@fastify/helmet'
import httpProxy from '@fastify/http-proxy'
import jwt from '@fastify/jwt'
import middie from '@fastify/middie'
import multipart from '@fastify/multipart'
import rateLimit from '@fastify/rate-limit'
import session from '@fastify/session'
import files from '@fastify/static'
import swagger from '@fastify/swagger'
import { describe } from '@jest/globals'
import { CLIENTS } from './clients.ts'
import { running, TEXT } from './express-stack.ts'
import { cases, fastifyApp, type Row } from './fastify-stack.ts'
import { IN_VAIN, type Probe, type RunningApp, testCases } from './play.ts'

const CLIENT_ID = async (
  request: { id: string },
  reply: { header(name: string, value: string): unknown },
): Promise<void> => {
  reply.header('x-request-id', `${request.id}-${randomUUID()}`)
}
const secret = 'no secret, but as long as one has to be'
const DECLARED = 'max-age=60, stale-while-revalidate=60'

/** A server that answers for the app in front of it. */
function startUpstream(probe: Probe): Promise<RunningApp> {
  const server = createServer(({ method, url }, res) => {
    if (method !== 'POST') probe.runs += 1
    // The clock of the cache is the test's own: a date of the real clock would be years old.
    res.sendDate = false
    res.writeHead(method === 'POST' ? 201 : 200, { 'content-type': 'text/plain', 'cache-control': DECLARED })
    res.end(`${TEXT} ${url}`)
  })
  return running(server)
}

const rows: readonly Row[] = [
  { says: '@fastify/cookie: one stored page', install: async (app) => await app.register(cookie), entries: 1 },
  {
    says: '@fastify/cookie with the cookie in the key: a page for each',
    install: async (app) => await app.register(cookie),
    handler: (request) => `for ${request.cookies['who']}`,
    route: { key: { cookies: ['who'] } },
    places: ['before the plugin', 'after the plugin', 'in a child app'],
    entries: 3,
  },
  {
    says: '@fastify/cookie and a page that reads a cookie that is in no key: each response is its own client’s',
    install: async (app) => await app.register(cookie),
    handler: (request) => `for ${request.cookies['who']}`,
    entries: 0,
    own: CLIENTS,
    loads: IN_VAIN,
  },
  {
    says: '@fastify/session: one stored page',
    install: async (app) => {
      await app.register(cookie)
      await app.register(session, { secret, saveUninitialized: false, rolling: false })
    },
    entries: 1,
  },
  {
    says: '@fastify/cors: each response names the origin of its own client',
    install: async (app) => await app.register(cors, { origin: true }),
    entries: 1,
  },
  { says: '@fastify/helmet: one stored page', install: async (app) => await app.register(helmet), entries: 1 },
  {
    says: '@fastify/compress: one stored text, coded for each client',
    install: async (app) => await app.register(compress, { threshold: 0 }),
    entries: 1,
  },
  {
    says: '@fastify/etag: one stored page with its entity-tag',
    install: async (app) => await app.register(etag),
    entries: 1,
  },
  {
    says: '@fastify/rate-limit: each client has its own count',
    install: async (app) =>
      await app.register(rateLimit, { keyGenerator: ({ headers }) => headers['user-agent'] ?? 'the cache' }),
    entries: 1,
    differs: { 'x-ratelimit-reset': 'counts seconds' },
  },
  {
    says: '@fastify/jwt in a preHandler: a guest gets its 401, members share a page',
    install: async (app) => {
      await app.register(jwt, { secret })
      app.addHook('preHandler', async (request, reply) => {
        const name = request.headers['user-agent'] ?? ''
        const token = app.jwt.sign({ name })
        if (name === CLIENTS[2]) return reply.code(401).send('no')
        app.jwt.verify(token)
      })
    },
    route: { refresh: 'inline' },
    entries: 1,
  },
  {
    says: '@fastify/csrf-protection: one stored page beside the tokens',
    install: async (app) => {
      await app.register(cookie)
      await app.register(csrf)
    },
    entries: 1,
  },
  {
    says: '@fastify/multipart: one stored page',
    install: async (app) => await app.register(multipart),
    entries: 1,
  },
  { says: '@fastify/swagger: one stored page', install: async (app) => await app.register(swagger), entries: 1 },
  {
    says: '@fastify/middie: the id of a middleware is that of its own request',
    install: async (app) => {
      await app.register(middie)
      app.use((_req, res, next) => {
        res.setHeader('x-request-id', randomUUID())
        next()
      })
    },
    entries: 1,
  },
  {
    says: '@fastify/express: the id of a middleware is that of its own request',
    install: async (app) => {
      await app.register(express)
      app.use((_req, res, next) => {
        res.setHeader('x-request-id', randomUUID())
        next()
      })
    },
    entries: 1,
  },
  {
    says: '@fastify/caching: one stored page',
    install: async (app) => await app.register(caching, { privacy: 'public', expiresIn: 60 }),
    entries: 1,
  },
  {
    says: '@fastify/static: one stored copy of a file, with its entity-tag',
    install: async (app, probe) =>
      await app.register(files, {
        root: import.meta.dirname ?? __dirname,
        prefix: '/files/',
        cacheControl: false,
        setHeaders(reply) {
          probe.runs += 1
          reply.header('cache-control', DECLARED)
        },
      }),
    places: ['after the plugin', 'in a child app'],
    page: '/files/script.ts',
    entries: 1,
    // A file has no POST.
    loads: { 'after the POST': 0 },
  },
  {
    says: '@fastify/http-proxy: one request of the upstream for each expiry',
    install: async (app, probe) => {
      const upstream = await startUpstream(probe)
      app.addHook('onClose', () => upstream.close())
      await app.register(httpProxy, { upstream: `http://127.0.0.1:${upstream.port}`, prefix: '/shop' })
    },
    places: ['after the plugin', 'in a child app'],
    page: '/shop/page',
    entries: 1,
  },
  {
    says: 'an onRequest hook: the id that it sets is that of its own request',
    install: async (app) => app.addHook('onRequest', CLIENT_ID),
    entries: 1,
  },
]

describe('neighbours on Fastify', () => {
  testCases(cases(rows), fastifyApp)
})
