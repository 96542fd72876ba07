import compress from '@fastify/compress'
import { describe, expect, test } from '@jest/globals'
import type { FastifyReply } from 'fastify'
import { Readable } from 'node:stream'
import { cache, withApp } from './support/cached-app.ts'

const HANDLERS: Readonly<Record<string, (reply: FastifyReply) => unknown>> = {
  nothing: (reply) => reply.send(),
  null: (reply) => reply.type('text/plain').send(null),
  'an empty text': (reply) => reply.type('text/plain').send(''),
  'a text': (reply) => reply.type('text/plain').send('a text'),
  bytes: (reply) => reply.type('text/plain').send(Buffer.from('bytes')),
}

describe.each(Object.entries(HANDLERS))('the payload of a handler that sends %s', (_name, handle) => {
  test.each([200, 302])('has the same form for onSend hooks on a hit as on a miss of status %i', async (status) => {
    await withApp(async ({ app }) => {
      const seen: unknown[] = []
      app.addHook('onSend', async (_request, _reply, payload) => {
        seen.push(payload)
        return payload
      })
      app.get('/page', { config: { cache } }, async (_request, reply) => {
        void handle(reply.code(status).header('cache-control', 'max-age=60'))
        return reply
      })
      await app.inject('/page')
      expect((await app.inject('/page')).headers).toHaveProperty('age')
      expect(seen).toEqual([seen[0], seen[0]])
      expect(seen.map((payload) => payload === null)).toEqual([seen[0] === null, seen[0] === null])
    })
  })
})

/** The fields that the payload decides, on a miss, on a hit and for HEAD. */
async function fieldsOfThree(handle: (reply: FastifyReply) => unknown, status: number): Promise<readonly unknown[]> {
  const found: unknown[] = []
  await withApp(
    async ({ app }) => {
      app.get('/page', { config: { cache } }, async (_request, reply) => {
        void handle(reply.code(status).headers({ 'cache-control': 'max-age=60', location: '/other' }))
        return reply
      })
      for (const method of ['GET', 'GET', 'HEAD'] as const) {
        const url = { method, url: '/page', headers: { 'accept-encoding': 'gzip' } }
        const { statusCode, headers, rawPayload } = await app.inject(url)
        const { 'content-encoding': coding, 'content-type': type, 'content-length': length, vary } = headers
        found.push({ statusCode, coding, type, length, vary, bytes: method === 'HEAD' ? 'none' : rawPayload.length })
      }
    },
    { early: (app) => app.register(compress, { threshold: 0 }) },
  )
  return found
}

describe('@fastify/compress and a response without a body', () => {
  test('a redirect stays without a body on a hit', async () => {
    const [miss, hit, head] = await fieldsOfThree((reply) => reply.redirect('/other', 302), 302)
    expect(miss).toMatchObject({ bytes: 0, coding: undefined, length: '0' })
    expect(hit).toEqual(miss)
    expect(head).toMatchObject({ statusCode: 302, coding: undefined, length: '0' })
  })

  test.each(
    Object.entries({
      ...HANDLERS,
      'a stream': (reply: FastifyReply) => reply.type('text/plain').send(Readable.from(['a text'])),
    }),
  )('a 204 of %s has the same fields on a hit as on the miss', async (_name, handle) => {
    const [miss, hit] = await fieldsOfThree(handle, 204)
    expect(miss).toMatchObject({ statusCode: 204, bytes: 0, length: undefined })
    expect(hit).toEqual(miss)
  })
})
