import { request as send } from 'node:http'
import { PassThrough, Readable } from 'node:stream'
import { describe, expect, test } from '@jest/globals'
import type { FastifyInstance } from 'fastify'
import supertest from 'supertest'
import { cache, counter, lock, withApp } from './cached-app.ts'

/** A client that asks and leaves; resolves once the server has noticed. */
async function askAndLeave(app: FastifyInstance, url: string, asked: Promise<void>): Promise<void> {
  const left = new Promise<void>((resolve) => {
    app.addHook('onRequestAbort', (_request, done) => {
      resolve()
      done()
    })
  })
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  const request = send(`${origin}${url}`, { agent: false })
  request.on('error', () => {})
  request.end()
  await asked
  request.destroy()
  await left
}

const originOf = ({ server }: FastifyInstance): string => {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError('the app does not listen')
  return `http://127.0.0.1:${address.port}`
}

describe('a leader whose client leaves', () => {
  for (const first of ['', 'the beginning']) {
    test(`with ${first === '' ? 'no byte' : 'some bytes'} of a stream out, which a hook after ours pipes on, leaves nobody behind`, async () => {
      await withApp(async ({ app }) => {
        const asked = lock()
        const origin = counter()
        app.addHook('onSend', async (_request, _reply, payload) =>
          // A hook that does not tell the stream it was given when its own is destroyed.
          payload instanceof PassThrough || typeof payload === 'string'
            ? payload
            : (payload as PassThrough).pipe(new PassThrough()),
        )
        app.get('/stream', { config: { cache } }, async (_request, reply) => {
          const run = origin.next()
          if (run !== 'run 1') return run
          const stream = new PassThrough()
          if (first !== '') stream.write(first)
          setTimeout(asked.open, 20)
          return reply.type('text/plain').send(stream)
        })
        await askAndLeave(app, '/stream', asked.opened)
        await supertest(originOf(app)).get('/stream').expect(200, 'run 2')
      })
    })
  }

  test('before a stream that was read to its end while a hook after ours took its time leaves nobody behind', async () => {
    await withApp(async ({ app }) => {
      const asked = lock()
      const gate = lock()
      const origin = counter()
      app.addHook('onSend', async (_request, _reply, payload) => {
        await new Promise((resolve) => setTimeout(resolve, 20))
        return payload
      })
      app.get('/late', { config: { cache } }, async (_request, reply) => {
        const run = origin.next()
        if (run !== 'run 1') return run
        asked.open()
        await gate.opened
        return reply.type('text/plain').send(Readable.from([run]))
      })
      await askAndLeave(app, '/late', asked.opened)
      gate.open()
      await supertest(originOf(app)).get('/late').expect(200, 'run 2')
    })
  })

  test('from a hijacked reply that has said nothing leaves nobody behind', async () => {
    await withApp(async ({ app }) => {
      const asked = lock()
      const origin = counter()
      app.get('/hijacked', { config: { cache } }, (_request, reply) => {
        const run = origin.next()
        if (run !== 'run 1') return run
        reply.hijack()
        asked.open()
        return undefined
      })
      await askAndLeave(app, '/hijacked', asked.opened)
      await supertest(originOf(app)).get('/hijacked').expect(200, 'run 2')
    })
  })
})

describe('a leader that goes on for long', () => {
  test('past Fastify keeps nobody waiting once its head is out', async () => {
    await withApp(async ({ app }) => {
      const asked = lock()
      const origin = counter()
      app.get('/events', { config: { cache } }, (_request, reply) => {
        const run = origin.next()
        if (run !== 'run 1') return run
        reply.hijack()
        reply.raw.writeHead(200, { 'content-type': 'text/plain' })
        reply.raw.write('the first of many')
        asked.open()
        return undefined
      })
      const url = await app.listen({ port: 0, host: '127.0.0.1' })
      const endless = send(`${url}/events`, { agent: false }).on('error', () => {})
      endless.end()
      await asked.opened
      await supertest(url).get('/events').expect(200, 'run 2')
      endless.destroy()
      expect(origin.runs).toBe(2)
    })
  })

  test('that the handler itself breaks off before a byte is out cools the route down', async () => {
    await withApp(async ({ app }) => {
      const origin = counter()
      app.get('/broken', { config: { cache } }, (_request, reply) => {
        origin.next()
        reply.raw.destroy()
      })
      const url = await app.listen({ port: 0, host: '127.0.0.1' })
      await expect(supertest(url).get('/broken')).rejects.toThrow('socket hang up')
      const cooling = await supertest(url).get('/broken').expect(503)
      expect(Number(cooling.headers['retry-after'])).toBeGreaterThanOrEqual(1)
      expect(origin.runs).toBe(1)
    })
  })
})
