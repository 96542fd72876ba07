import { createCache } from '@cattlegrid/core'
import { createManualRuntime } from '@cattlegrid/testkit'
import { expect, test } from '@jest/globals'
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import supertest, { type Test } from 'supertest'
import { hangingReads } from '../../../test/support/hanging-reads.ts'
import cattlegrid from '../src/index.ts'
import { cache, listen, rest, withApp } from './support/cached-app.ts'

/** Lets the app listen, and asks it. */
async function client(app: FastifyInstance): Promise<(method: 'get' | 'post', url: string) => Test> {
  const port = await listen(app)
  return (method, url) => supertest(`http://127.0.0.1:${port}`)[method](url)
}

test('a wrong argument on the raw response of a POST is an error of its handler, with and without a promise', async () => {
  await withApp(async ({ app }) => {
    app.post('/at-once', (_request, reply) => {
      Reflect.apply(reply.raw.end, reply.raw, [5])
    })
    app.post('/later', async (_request, reply) => {
      await rest()
      Reflect.apply(reply.raw.end, reply.raw, [5])
    })
    const ask = await client(app)
    expect([(await ask('post', '/at-once')).status, (await ask('post', '/later')).status]).toEqual([500, 500])
  })
})

test('a POST that is answered on the raw response is answered, although its end waits for an invalidation', async () => {
  await withApp(async ({ app }) => {
    const sent: boolean[] = []
    app.post('/raw', async (_request, reply) => {
      reply.raw.end('raw')
      sent.push(reply.sent)
    })
    const ask = await client(app)
    expect((await ask('post', '/raw')).text).toBe('raw')
    expect(sent).toEqual([true])
  })
})

test('after a reply is hijacked a wrong argument is thrown to whoever gave it', async () => {
  await withApp(async ({ app }) => {
    app.post('/hijacked', (_request, reply) => {
      const { raw } = reply.hijack()
      try {
        Reflect.apply(raw.end, raw, [5])
      } catch (error) {
        raw.writeHead(500).end((error as Error).name)
      }
    })
    const ask = await client(app)
    const { status, text } = await ask('post', '/hijacked')
    expect([status, text]).toEqual([500, 'TypeError'])
  })
})

test.each<[string, (reply: FastifyReply) => void, string]>([
  ['whole on the reply', (reply) => void reply.code(503).send('too slow'), 'too slow'],
  ['whole on the raw response', (reply) => void reply.raw.writeHead(503).end('too slow'), 'too slow'],
  ['begun on the raw response', (reply) => void reply.raw.writeHead(503).write('too '), 'too slow'],
])('an answer that something outside gave, %s, stays while the purge endpoint is at work', async (_, answer, body) => {
  for (const closed of [false, true])
    await withApp(async ({ app, cache: used }) => {
      let asked: FastifyReply | undefined
      app.addHook('onRequest', async (_request, reply) => {
        asked = reply
      })
      const authorize = (): boolean => {
        if (asked !== undefined) answer(asked)
        return true
      }
      app.post('/purge', app.cattlegrid.purge({ authorize }))
      const ask = await client(app)
      if (closed) await used.close({ drain: 0 })
      const answered = ask('post', '/purge?tag=a').then(({ status, text }) => [status, text])
      while (asked?.raw.headersSent !== true) await rest()
      await rest()
      if (!asked.raw.writableEnded) asked.raw.end('slow')
      expect(await answered).toEqual([503, body])
    })
})

test('an answer that something outside began while a store is asked in phase onRequest is left to it', async () => {
  const runtime = createManualRuntime()
  const { store, count } = hangingReads(runtime)
  const used = createCache({ runtime, store })
  const app = Fastify({ forceCloseConnections: true })
  let asked: FastifyReply | undefined
  let runs = 0
  try {
    await app.register(cattlegrid, { cache: used, close: false })
    app.addHook('onRequest', async (_request, reply) => {
      asked = reply
    })
    app.get('/early', { config: { cache: { ...cache, phase: 'onRequest' } } }, async () => `run ${++runs}`)
    const ask = await client(app)
    const answered = ask('get', '/early').then(({ status, text }) => [status, text])
    while (count() === 0) await rest()
    asked?.raw.writeHead(503).write('too ')
    await runtime.advance(60_000)
    await rest()
    asked?.raw.end('slow')
    expect(await answered).toEqual([503, 'too slow'])
    expect(runs).toBe(0)
  } finally {
    await app.close()
    await used.close({ drain: 0 })
  }
})
