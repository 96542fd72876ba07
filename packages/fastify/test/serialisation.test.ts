import { pipeline, PassThrough, Readable, Transform } from 'node:stream'
import { describe, expect, test } from '@jest/globals'
import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { withApp } from './support/cached-app.ts'

type Handler = (request: FastifyRequest, reply: FastifyReply) => unknown

const nameOf = (request: FastifyRequest): string => Reflect.get(request, 'user') as string

/** Writes the client's name into a page, chunk by chunk. */
const naming = (request: FastifyRequest): Transform =>
  new Transform({
    transform(_chunk, _encoding, next) {
      next(null, nameOf(request))
    },
  })

const HANDLERS: Readonly<Record<string, Handler>> = {
  'a getter of the payload': (request) => ({
    get user() {
      return nameOf(request)
    },
  }),
  'toJSON of the payload': (request) => ({ toJSON: () => nameOf(request) }),
  'the serializer of the reply': (request, reply) => reply.serializer(() => nameOf(request)).send({ page: 1 }),
  'the serializer of a text': (request, reply) =>
    reply
      .type('text/html')
      .serializer(() => nameOf(request))
      .send('page'),
  'a transform behind a stream': (request) => Readable.from(['page']).pipe(naming(request)),
  'the end of a pipeline': (request) => pipeline(Readable.from(['page']), naming(request), () => {}),
  'a stream that is written in the next tick': (request) => {
    const stream = new PassThrough()
    process.nextTick(() => stream.end(nameOf(request)))
    return stream
  },
}

describe.each([
  ['without hooks of others', false],
  ['with an onSend hook of another plugin', true],
] as const)('a handler whose response is made after it has returned, %s', (_, hooked) => {
  test.each(Object.entries(HANDLERS))('is noticed to read its client: %s', async (__, handler) => {
    await withApp(
      async ({ app }) => {
        app.get('/page', { config: { cache: { ttl: '1h' } } }, handler)
        const bodyFor = async (user: string): Promise<string> =>
          (await app.inject({ url: '/page', headers: { 'x-user': user } })).body
        expect(await bodyFor('anna')).toContain('anna')
        expect(await bodyFor('bert')).toContain('bert')
      },
      {
        early: (app) => {
          app.decorateRequest<string, 'user'>('user', '')
          app.addHook('onRequest', (request, _reply, done) => {
            Reflect.set(request, 'user', request.headers['x-user'])
            done()
          })
          if (hooked)
            app.addHook('onSend', (request, _reply, payload, done) => {
              nameOf(request)
              done(null, payload)
            })
        },
      },
    )
  })
})

describe('the fields and the routes of a hit', () => {
  test('keep the Content-Type that a hook outside the cache sets', async () => {
    await withApp(async ({ app }) => {
      app.addHook('onRequest', (_request, reply, done) => {
        reply.type('text/plain')
        done()
      })
      app.get('/page', { config: { cache: { ttl: '1h' } } }, () => 'page')
      for (let time = 0; time < 2; time += 1)
        expect((await app.inject('/page')).headers['content-type']).toMatch(/^text\/plain/)
    })
  })

  test('are not for a HEAD route of its own', async () => {
    await withApp(async ({ app }) => {
      const shared: RouteHandlerMethod = (_request, reply) => reply.header('x-route', 'shared').send('page')
      app.get('/shared', { config: { cache: { ttl: '1h' } } }, shared)
      app.head('/third', shared)
      app.get('/third', { config: { cache: { ttl: '1h' } } }, (_request, reply) =>
        reply.header('x-route', 'get').send('page'),
      )
      app.head('/page', (_request, reply) => reply.header('x-route', 'head').send())
      app.get('/page', { config: { cache: { ttl: '1h' } } }, (_request, reply) =>
        reply.header('x-route', 'get').send('page'),
      )
      app.get('/other', { config: { cache: { ttl: '1h' } } }, (_request, reply) =>
        reply.header('x-route', 'get').send('page'),
      )
      for (const [url, route] of [
        ['/page', 'head'],
        ['/other', 'get'],
        ['/third', 'shared'],
        ['/shared', 'shared'],
      ] as const) {
        await app.inject(url)
        expect((await app.inject({ method: 'HEAD', url })).headers['x-route']).toBe(route)
      }
    })
  })
})
