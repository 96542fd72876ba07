import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import cookie from '@fastify/cookie'
import csrf from '@fastify/csrf-protection'
import express from '@fastify/express'
import jwt from '@fastify/jwt'
import middie from '@fastify/middie'
import session from '@fastify/session'
import { describe, expect, test } from '@jest/globals'
import cookieParser from 'cookie-parser'
import expressSession from 'express-session'
import passport from 'passport'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { cache, counter, withApp } from './support/cached-app.ts'

type Install = (app: FastifyInstance) => unknown
type Handler = (request: FastifyRequest, reply: FastifyReply) => unknown
type Row = readonly [title: string, install: Install, handler: Handler]

const secret = 'no secret, but as long as one has to be'
const sessionsOfExpress = expressSession({ secret, resave: false, saveUninitialized: false })
const PASSPORT = [sessionsOfExpress, passport.initialize(), passport.session()]

const cookies: Install = (app) => app.register(cookie)
const tokens: Install = (app) =>
  app.register(cookie).register(jwt, { secret, cookie: { cookieName: 'token', signed: false } })
const sessions: Install = (app) => app.register(cookie).register(session, { secret, saveUninitialized: false })
const user: Install = (app) => app.decorateRequest<string, 'user'>('user', '')

/** Middleware for Express, as an app of Fastify uses it. */
const uses =
  (plugin: typeof middie | typeof express, ...layers: readonly unknown[]): Install =>
  async (app) => {
    await app.register(plugin as typeof middie)
    // Their types ask for the request of Express.
    for (const layer of layers) app.use(layer as Parameters<typeof app.use>[0])
  }

/** A hook that runs after what `install` adds. */
const hooked =
  (install: Install, hook: Handler): Install =>
  async (app) => {
    await install(app)
    app.addHook('onRequest', async (request, reply) => {
      await hook(request, reply)
    })
  }

const reads =
  (name: string): Handler =>
  (request) =>
    `for ${JSON.stringify(Reflect.get(request, name))}`
const readsRaw =
  (name: string): Handler =>
  ({ raw }) =>
    `for ${JSON.stringify(Reflect.get(raw, name))}`
/** A stream that makes its chunks on demand. */
const streams = (chunk: Handler): Handler => {
  async function* chunks(request: FastifyRequest, reply: FastifyReply): AsyncGenerator {
    yield await chunk(request, reply)
  }
  return (request, reply) => Readable.from(chunks(request, reply))
}
/** A stream of chunks that do not wait for a reader. */
const pushes =
  (chunk: Handler): Handler =>
  (request, reply) => {
    const stream = new Readable({ read: () => undefined })
    setTimeout(() => {
      stream.push(chunk(request, reply))
      stream.push(null)
    }, 5)
    return stream
  }
const identifies: Handler = (request) => Object.assign(request, { user: request.headers['x-user'] })

const PERSONAL: readonly Row[] = [
  ['the user of a token that a hook verified', hooked(tokens, async (r) => await r.jwtVerify()), reads('user')],
  ['a token that the handler verifies', tokens, async (r) => JSON.stringify(await r.jwtVerify())],
  ['a token that the handler decodes', tokens, async (r) => JSON.stringify(await r.jwtDecode())],
  ['a token that only admits the client', tokens, async (r) => r.jwtVerify().then(() => 'secret')],
  ['the cookies', cookies, reads('cookies')],
  ['the session', sessions, async (r) => `for ${r.session.get('user')}`],
  [
    'the secret of a token against forgery',
    (app) => app.register(cookie).register(csrf),
    async (_, r) => r.generateCsrf(),
  ],
  ['the cookies of a middleware', uses(middie, cookieParser()), readsRaw('cookies')],
  ['the session of a middleware', uses(middie, sessionsOfExpress), readsRaw('session')],
  ['the cookies of a middleware in @fastify/express', uses(express, cookieParser()), readsRaw('cookies')],
  ['the user of passport in @fastify/express', uses(express, ...PASSPORT), readsRaw('user')],
  ['the user of a hook', hooked(user, identifies), reads('user')],
  ['the user where it makes the first chunk of a stream', hooked(user, identifies), streams(reads('user'))],
  ['the user where it pushes the first chunk into a stream', hooked(user, identifies), pushes(reads('user'))],
  [
    'the user while a slow onSend hook has its stream',
    async (app) => {
      await hooked(user, identifies)(app)
      app.addHook('onSend', async () => await setImmediate())
    },
    streams(reads('user')),
  ],
  ['the session where it makes the first chunk of a stream', sessions, streams(reads('session'))],
  ['the user of a hook, by getDecorator', hooked(user, identifies), (r) => r.getDecorator<string>('user')],
  [
    'the user that the handler sets by setDecorator',
    user,
    (r) => {
      r.setDecorator('user', r.headers['x-user'])
      return r.getDecorator<string>('user')
    },
  ],
]

const everybodys: Handler = () => 'for everybody'

const SHARED: readonly Row[] = [
  ['a hook that verifies a token', hooked(tokens, async (r) => await r.jwtVerify()), everybodys],
  ['@fastify/cookie', cookies, everybodys],
  ['@fastify/session', sessions, everybodys],
  ['@fastify/session and a stream', sessions, streams(everybodys)],
  [
    'an onSend hook that reads the user, and a stream',
    async (app) => {
      await hooked(user, identifies)(app)
      app.addHook('onSend', async (request, reply) => {
        reply.header('x-name', JSON.stringify(Reflect.get(request, 'user')))
      })
    },
    streams(everybodys),
  ],
  ['a parser of cookies in middie', uses(middie, cookieParser()), everybodys],
  ['express-session in middie', uses(middie, sessionsOfExpress), everybodys],
  ['passport in @fastify/express', uses(express, ...PASSPORT), everybodys],
  ['a hook that sets the user', hooked(user, identifies), everybodys],
]

async function tokenOfAnn(): Promise<string> {
  const app = Fastify()
  await app.register(jwt, { secret })
  return app.jwt.sign({ name: 'ann' })
}

const PLACES = ['before the cache', 'after the cache', 'in a child app'] as const

/** The runs of the handler of two requests. */
async function runsOf(place: (typeof PLACES)[number], install: Install, handler: Handler): Promise<number> {
  const origin = counter()
  const declare = (app: FastifyInstance): void => {
    app.get('/me', { config: { cache } }, async (request, reply) => {
      origin.next()
      return await handler(request, reply)
    })
  }
  await withApp(
    async ({ app }) => {
      if (place === 'after the cache') await install(app)
      if (place === 'in a child app')
        await app.register(async (child) => {
          await install(child)
          declare(child)
        })
      else declare(app)
      const headers = { cookie: `token=${await tokenOfAnn()}; _csrf=x`, 'x-user': 'ann' }
      for (let turn = 0; turn < 2; turn += 1) expect((await app.inject({ url: '/me', headers })).statusCode).toBe(200)
    },
    place === 'before the cache' ? { early: install } : {},
  )
  return origin.runs
}

describe.each(PLACES)('plugins that identify clients, %s', (place) => {
  test.each(PERSONAL)(
    'a handler that reads %s has its response kept for its own client',
    async (_, install, handler) => {
      expect(await runsOf(place, install, handler)).toBe(2)
    },
  )

  test.each(SHARED)('a handler behind %s has its response stored', async (_, install, handler) => {
    expect(await runsOf(place, install, handler)).toBe(1)
  })
})
