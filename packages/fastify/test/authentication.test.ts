import { describe, expect, test } from '@jest/globals'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import supertest from 'supertest'
import { cache, counter, withApp } from './support/cached-app.ts'

const known = { 'x-user': 'ada' }

async function authenticate(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (request.headers['x-user'] === undefined) await reply.code(401).send({ error: 'who are you?' })
}

/** Where an app may have its authentication, and the route behind it. */
const places: Readonly<Record<string, (app: FastifyInstance, handler: () => Promise<string>) => Promise<void>>> = {
  'a preHandler of the route': async (app, handler) => {
    app.get('/secret', { config: { cache }, preHandler: authenticate }, handler)
  },
  'a list of preHandlers of the route': async (app, handler) => {
    app.get('/secret', { config: { cache }, preHandler: [async () => {}, authenticate] }, handler)
  },
  'an onRequest hook of a child plugin': async (app, handler) => {
    await app.register(async (child) => {
      child.addHook('onRequest', authenticate)
      child.get('/secret', { config: { cache } }, handler)
    })
  },
  'an onRequest hook of a plugin registered after ours': async (app, handler) => {
    await app.register(fp(async (later) => void later.addHook('onRequest', authenticate)))
    app.get('/secret', { config: { cache } }, handler)
  },
  'a preHandler hook of a plugin registered after ours': async (app, handler) => {
    await app.register(fp(async (later) => void later.addHook('preHandler', authenticate)))
    app.get('/secret', { config: { cache } }, handler)
  },
  'a preHandler hook added after the route': async (app, handler) => {
    app.get('/secret', { config: { cache } }, handler)
    app.addHook('preHandler', authenticate)
  },
  'a preHandler that a plugin registered after ours appends to each route': async (app, handler) => {
    await app.register(
      fp(async (later) => {
        later.addHook('onRoute', (route) => {
          route.preHandler = [route.preHandler ?? [], authenticate].flat()
        })
      }),
    )
    app.get('/secret', { config: { cache } }, handler)
  },
  'a handler that a plugin registered after ours wraps': async (app, handler) => {
    await app.register(
      fp(async (later) => {
        later.addHook('onRoute', (route) => {
          const inner = route.handler
          route.handler = async function wrapped(request, reply) {
            if (request.headers['x-user'] === undefined) return reply.code(401).send({ error: 'who are you?' })
            return inner.call(this, request, reply)
          }
        })
      }),
    )
    app.get('/secret', { config: { cache } }, handler)
  },
}

describe('authentication', () => {
  test.each(Object.entries(places))('in %s turns a stranger away while the entry is fresh', async (_place, declare) => {
    await withApp(async ({ app }) => {
      const origin = counter()
      await declare(app, async () => origin.next())
      const url = await app.listen({ port: 0, host: '127.0.0.1' })
      await supertest(url).get('/secret').expect(401)
      await supertest(url).get('/secret').set(known).expect(200, 'run 1')
      await supertest(url).get('/secret').set(known).expect(200, 'run 1')
      const stranger = await supertest(url).get('/secret').expect(401)
      expect(stranger.text).not.toContain('run')
      await supertest(url).head('/secret').expect(401)
      await supertest(url).get('/secret').set(known).expect(200, 'run 1')
      expect(origin.runs).toBe(1)
    })
  })

  test('validation refuses a bad request while the entry of the good one is fresh', async () => {
    await withApp(async ({ app }) => {
      const schema = { querystring: { type: 'object', properties: { page: { type: 'integer' } }, required: ['page'] } }
      app.get('/list', { config: { cache }, schema }, async () => 'one')
      expect((await app.inject('/list?page=1')).statusCode).toBe(200)
      expect((await app.inject('/list?page=x')).statusCode).toBe(400)
      expect((await app.inject('/list?page=1')).headers['age']).toBe('0')
    })
  })
})
