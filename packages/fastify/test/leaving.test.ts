import { ownListener } from '@cattlegrid/http'
import { request as send } from 'node:http'
import { finished, PassThrough, Readable, Transform } from 'node:stream'
import { describe, expect, test } from '@jest/globals'
import type { FastifyInstance } from 'fastify'
import supertest from 'supertest'
import { cache, type CachedApp, counter, lock, withApp } from './support/cached-app.ts'

/** A client that asks and leaves; resolves once the server has noticed. */
async function askAndLeave(app: FastifyInstance, url: string, asked: Promise<void>): Promise<void> {
  const left = new Promise<void>((resolve) => {
    // As if nobody had heard of it: an `onRequestAbort` hook could tell the handler.
    app.server.on(
      'connection',
      (socket) =>
        void socket.once(
          'close',
          ownListener(() => setImmediate(resolve)),
        ),
    )
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

  test('with its whole payload in a hook after ours is told, and leaves its response to the others', async () => {
    await withApp(async ({ app }) => {
      const asked = lock()
      const origin = counter()
      app.addHook('onSend', async (_request, _reply, payload) => {
        asked.open()
        await new Promise((resolve) => setTimeout(resolve, 50))
        return payload
      })
      app.get('/page', { config: { cache } }, async (request) => {
        request.raw.socket.once('close', () => {})
        return origin.next()
      })
      await askAndLeave(app, '/page', asked.opened)
      await supertest(originOf(app)).get('/page').expect(200, 'run 1')
    })
  })

  const HOOKS: readonly (readonly [string, (payload: Readable) => unknown])[] = [
    ['takes its time', (payload) => new Promise((resolve) => setTimeout(() => resolve(payload), 20))],
    [
      'passes it on slowly',
      (payload) => {
        const slow = new Transform({
          transform: (chunk, _encoding, next) => void setTimeout(() => next(null, chunk), 20),
        })
        return payload.pipe(slow)
      },
    ],
  ]
  for (const [does, hook] of HOOKS) {
    test(`before a stream was sent that a hook after ours ${does} still answers the others, and logs no failure`, async () => {
      const logged: string[] = []
      const logger = { level: 'info', stream: { write: (line: string) => void logged.push(line) } }
      const play = async ({ app }: CachedApp): Promise<void> => {
        const asked = lock()
        const gate = lock()
        const origin = counter()
        app.addHook('onSend', async (_request, _reply, payload) =>
          payload instanceof Readable ? hook(payload) : payload,
        )
        app.get('/late', { config: { cache } }, async (_request, reply) => {
          const run = origin.next()
          asked.open()
          await gate.opened
          return reply.type('text/plain').send(Readable.from([run], { objectMode: false }))
        })
        await askAndLeave(app, '/late', asked.opened)
        gate.open()
        await supertest(originOf(app)).get('/late').expect(200, 'run 1')
      }
      await withApp(play, { server: { logger } })
      expect(logged.filter((line) => /\berr\b|premature/.test(line))).toEqual([])
    })
  }

  test('from a handler that sends a stream and returns nothing still answers the others', async () => {
    await withApp(async ({ app }) => {
      const asked = lock()
      const gate = lock()
      const origin = counter()
      const ended: unknown[] = []
      app.get('/sent', { config: { cache } }, async (_request, reply) => {
        const run = origin.next()
        asked.open()
        await gate.opened
        finished(reply.raw, (error) => ended.push(error))
        void reply.type('text/plain').send(Readable.from([run], { objectMode: false }))
      })
      await askAndLeave(app, '/sent', asked.opened)
      gate.open()
      await supertest(originOf(app)).get('/sent').expect(200, 'run 1')
      expect(ended).toEqual([undefined])
    })
  })

  test('only after a handler has returned nothing gets an empty answer, which is stored', async () => {
    await withApp(async ({ app, bodies }) => {
      const origin = counter()
      app.get('/nothing', { config: { cache } }, async () => {
        origin.next()
      })
      expect(await bodies('/nothing', 2)).toEqual(['', ''])
      expect(origin.runs).toBe(1)
    })
  })

  test('from a handler that then returns nothing leaves nobody behind', async () => {
    await withApp(async ({ app }) => {
      const asked = lock()
      const gate = lock()
      const origin = counter()
      app.get('/given-up', { config: { cache } }, async ({ raw }) => {
        const run = origin.next()
        if (run !== 'run 1') return run
        asked.open()
        await gate.opened
        return raw.destroyed ? undefined : 'too early'
      })
      await askAndLeave(app, '/given-up', asked.opened)
      gate.open()
      await supertest(originOf(app)).get('/given-up').expect(200, 'run 2')
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
