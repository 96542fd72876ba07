import etag from '@fastify/etag'
import { describe, expect, test } from '@jest/globals'
import { Readable } from 'node:stream'
import { cache, counter, withApp } from './support/cached-app.ts'

describe.each(['before', 'after'])('@fastify/etag, registered %s the cache', (order) => {
  const BODIES = { 'a text': 'a page', bytes: Buffer.from('a page') } as const

  test.each(Object.entries(BODIES))('gives the leader and each hit of %s one entity-tag', async (_what, body) => {
    await withApp(
      async ({ app, runtime }) => {
        if (order === 'after') await app.register(etag)
        const origin = counter()
        app.get('/page', { config: { cache } }, async () => {
          origin.next()
          return body
        })
        const leader = await app.inject('/page')
        expect(leader.headers.etag).toMatch(/^"/)
        for (const method of ['GET', 'HEAD'] as const) {
          const hit = await app.inject({ method, url: '/page' })
          expect([hit.statusCode, hit.headers.etag]).toEqual([200, leader.headers.etag])
        }
        const revalidation = { url: '/page', headers: { 'if-none-match': leader.headers.etag } }
        expect((await app.inject(revalidation)).statusCode).toBe(304)
        expect(origin.runs).toBe(1)
        await runtime.advance(11_000)
        // This client leads.
        expect((await app.inject(revalidation)).statusCode).toBe(304)
        expect(origin.runs).toBe(2)
        expect((await app.inject('/page')).body).toBe('a page')
      },
      order === 'before' ? { early: (app) => app.register(etag) } : {},
    )
  })

  test.each([
    ['confirms the stored response', true],
    ['sends it again', false],
  ])('gives a client without conditions the whole response if the handler %s', async (_title, confirms) => {
    await withApp(
      async ({ app, runtime }) => {
        if (order === 'after') await app.register(etag)
        app.get('/page', { config: { cache: { ...cache, revalidate: true } } }, async (request, reply) => {
          void reply.header('etag', '"1"')
          if (!confirms || request.headers['if-none-match'] === undefined) return 'a page'
          return await reply.code(304).send()
        })
        for (let turn = 0; turn < 2; turn += 1) {
          const { statusCode, body } = await app.inject('/page')
          expect([statusCode, body]).toEqual([200, 'a page'])
          await runtime.advance(11_000)
        }
      },
      order === 'before' ? { early: (app) => app.register(etag) } : {},
    )
  })

  test('leaves a stream, to which it gives none, the entity-tag of the cache', async () => {
    await withApp(
      async ({ app }) => {
        if (order === 'after') await app.register(etag)
        app.get('/page', { config: { cache } }, async () => Readable.from(['a page']))
        await app.inject('/page')
        const hit = await app.inject('/page')
        expect(hit.headers.etag).toMatch(/^W\//)
        const revalidation = { url: '/page', headers: { 'if-none-match': hit.headers.etag } }
        expect((await app.inject(revalidation)).statusCode).toBe(304)
      },
      order === 'before' ? { early: (app) => app.register(etag) } : {},
    )
  })
})

describe('a hook that replaces whole payloads only', () => {
  test('has a hit with a condition sent to it whole, after a leader that streamed', async () => {
    await withApp(async ({ app }) => {
      app.addHook('onSend', async (request, _reply, payload) =>
        typeof payload === 'string' || Buffer.isBuffer(payload)
          ? `${payload.toString()} for ${String(request.headers['x-user'])}`
          : payload,
      )
      app.get('/page', { config: { cache } }, async (_request, reply) => {
        void reply.header('etag', '"1"')
        return Readable.from(['a page'])
      })
      expect((await app.inject({ url: '/page', headers: { 'x-user': 'ann' } })).body).toBe('a page')
      for (const condition of [{}, { 'if-none-match': '"1"' }]) {
        const { statusCode, body } = await app.inject({ url: '/page', headers: { 'x-user': 'bob', ...condition } })
        expect([statusCode, body]).toEqual([200, 'a page for bob'])
      }
    })
  })
})
