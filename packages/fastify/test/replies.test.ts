import { describe, expect, test } from '@jest/globals'
import { Readable } from 'node:stream'
import { ReadableStream } from 'node:stream/web'
import type { FastifyReply } from 'fastify'
import { cache, counter, withApp } from './support/cached-app.ts'

/** The ways in which a handler of Fastify can answer, all with the same body. */
const ways: Readonly<Record<string, (reply: FastifyReply, body: string) => unknown>> = {
  'a returned promise': async (_reply, body) => Promise.resolve(body),
  'a returned value': (_reply, body) => body,
  'reply.send and no return': (reply, body) => {
    reply.send(body)
  },
  'reply.send and return reply': async (reply, body) => reply.send(body),
  'reply.send later': (reply, body) => {
    setTimeout(() => void reply.send(body), 5)
  },
  'an async function that sends and returns nothing': async (reply, body) => {
    reply.send(body)
  },
  'a Buffer': async (_reply, body) => Buffer.from(body),
  'a Uint8Array': async (_reply, body) => new Uint8Array(Buffer.from(body)),
  'a Node stream': async (_reply, body) => Readable.from([body.slice(0, 2), body.slice(2)]),
  'a web stream': async (_reply, body) => new Blob([body]).stream(),
  'a web Response': async (_reply, body) => new Response(body, { headers: { 'x-kind': 'web' } }),
}

describe('replies', () => {
  test.each(Object.entries(ways))('%s is recorded whole, and repeated', async (_way, answer) => {
    await withApp(async ({ app, bodies }) => {
      const origin = counter()
      app.get('/way', { config: { cache } }, (_request, reply) => answer(reply, origin.next()))
      expect(await bodies('/way', 3)).toEqual(['run 1', 'run 1', 'run 1'])
      expect(origin.runs).toBe(1)
    })
  })

  test('a web Response keeps its status and its fields, and its cookie keeps it from others', async () => {
    await withApp(async ({ app, bodies }) => {
      const origin = counter()
      app.get(
        '/kept',
        { config: { cache } },
        async () => new Response(origin.next(), { status: 203, headers: { 'x-a': 'b' } }),
      )
      await bodies('/kept', 1)
      const hit = await app.inject('/kept')
      expect(hit).toMatchObject({ statusCode: 203, body: 'run 1' })
      expect(hit.headers['x-a']).toBe('b')
    })
    await withApp(async ({ app, bodies }) => {
      const origin = counter()
      app.get(
        '/own',
        { config: { cache } },
        async () => new Response(origin.next(), { headers: { 'set-cookie': 'a=1' } }),
      )
      expect(await bodies('/own', 2)).toEqual(['run 1', 'run 2'])
    })
  })

  test('a web stream that is locked is Fastify’s error, and not kept', async () => {
    await withApp(async ({ app, bodies, runtime }) => {
      let locked = true
      app.get('/locked', { config: { cache } }, async () => {
        const stream = new ReadableStream({
          start: (controller) => {
            controller.enqueue('one')
            controller.close()
          },
        })
        if (locked) stream.getReader()
        return stream
      })
      expect((await app.inject('/locked')).json()).toMatchObject({ code: 'FST_ERR_REP_READABLE_STREAM_LOCKED' })
      locked = false
      await runtime.advance(60_000)
      expect(await bodies('/locked', 2)).toEqual(['one', 'one'])
    })
  })

  test('the response schema is applied once, and its result is repeated', async () => {
    await withApp(async ({ app, bodies }) => {
      const schema = { response: { 200: { type: 'object', properties: { id: { type: 'integer' } } } } }
      let runs = 0
      app.get('/schema', { config: { cache }, schema }, async () => ({ id: `${++runs}`, password: 'secret' }))
      expect(await bodies('/schema', 2)).toEqual(['{"id":1}', '{"id":1}'])
      expect((await app.inject('/schema')).headers['content-type']).toBe('application/json; charset=utf-8')
    })
  })

  test('a custom serializer is applied once', async () => {
    await withApp(async ({ app, bodies }) => {
      app.get('/own', { config: { cache } }, (_request, reply) => {
        reply.type('text/x-own').serializer(() => 'serialized')
        return reply.send({ a: 1 })
      })
      expect(await bodies('/own', 2)).toEqual(['serialized', 'serialized'])
    })
  })

  test('an answer without a content type gets none at a hit', async () => {
    await withApp(async ({ app }) => {
      app.get('/untyped', { config: { cache } }, async () => Readable.from(['one']))
      expect((await app.inject('/untyped')).headers['content-type']).toBeUndefined()
      const hit = await app.inject('/untyped')
      expect(hit.body).toBe('one')
      expect(hit.headers['content-type']).toBeUndefined()
    })
  })

  test('a hijacked reply is its client’s own', async () => {
    await withApp(async ({ app, bodies }) => {
      const origin = counter()
      app.get('/hijacked', { config: { cache } }, (_request, reply) => {
        reply.hijack()
        reply.raw.end(origin.next())
      })
      expect(await bodies('/hijacked', 2)).toEqual(['run 1', 'run 2'])
    })
  })

  test('an answer past Fastify is its client’s own', async () => {
    await withApp(async ({ app, bodies }) => {
      const origin = counter()
      app.get('/raw', { config: { cache } }, (_request, reply) => {
        reply.raw.setHeader('x-a', 'b')
        reply.raw.write('raw ')
        reply.raw.end(origin.next())
      })
      expect(await bodies('/raw', 2)).toEqual(['raw run 1', 'raw run 2'])
    })
  })

  test('an error that the app’s own error handler turns into an answer is not kept, and the next run is', async () => {
    await withApp(async ({ app, bodies, runtime }) => {
      let broken = true
      app.setErrorHandler((error, _request, reply) => reply.code(502).send(`sorry: ${(error as Error).message}`))
      app.get('/fails', { config: { cache } }, async () => {
        if (broken) throw new Error('no database')
        return 'well'
      })
      expect(await app.inject('/fails')).toMatchObject({ statusCode: 502, body: 'sorry: no database' })
      const cooling = await app.inject('/fails')
      expect(cooling.body).not.toContain('database')
      expect(Number(cooling.headers['retry-after'])).toBeGreaterThanOrEqual(1)
      broken = false
      await runtime.advance(60_000)
      expect(await bodies('/fails', 2)).toEqual(['well', 'well'])
    })
  })

  test('the escapes of ordinary letters make no difference: Fastify decodes a path before it routes', async () => {
    await withApp(async ({ app, bodies }) => {
      const origin = counter()
      app.get('/page', { config: { cache } }, async () => origin.next())
      expect([await bodies('/page', 1), await bodies('/p%61ge', 1)]).toEqual([['run 1'], ['run 1']])
    })
  })

  test('callNotFound is kept as any 404 is', async () => {
    await withApp(async ({ app }) => {
      const origin = counter()
      app.setNotFoundHandler(async (_request, reply) => reply.code(404).send('nothing here'))
      app.get('/missing', { config: { cache } }, (_request, reply) => {
        origin.next()
        reply.callNotFound()
      })
      for (let turn = 0; turn < 2; turn += 1)
        expect(await app.inject('/missing')).toMatchObject({ statusCode: 404, body: 'nothing here' })
      expect(origin.runs).toBe(1)
    })
  })
})
