import { connect } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { createCache, memoryStore } from '@cattlegrid/core'
import { createManualRuntime } from '@cattlegrid/testkit'
import { expect, test } from '@jest/globals'
import Fastify, { type FastifyReply } from 'fastify'
import cattlegrid from '../src/index.ts'
import { type CachedApp, lock, rest, withApp } from './support/cached-app.ts'

const cache = { ttl: '10s', loadTimeout: '3s' } as const

/** Sends a request whose handler waits, lets the cache answer, and then the handler. */
async function answerLate({ app, runtime }: CachedApp, gate: { readonly open: () => void }): Promise<number> {
  const asked = app.inject('/slow').then((answer) => answer)
  await rest()
  await runtime.advance(3001)
  const { statusCode } = await asked
  gate.open()
  await rest()
  return statusCode
}

/** A source that does not end by itself, and shows when it is closed. */
function openSource(closed: () => void): Readable {
  return new Readable({
    read: () => undefined,
    destroy: (_error, done) => {
      closed()
      done(null)
    },
  })
}

const webBody = (closed: () => void): ReadableStream => new ReadableStream({ cancel: closed })

test.each<[string, (closed: () => void) => unknown]>([
  ['a stream', openSource],
  ['a web stream', webBody],
  ['a web Response', (closed) => new Response(webBody(closed))],
])('%s that a handler returns, or sends, after a 504 is closed, and nothing is logged', async (_, payloadOf) => {
  for (const sends of [true, false]) {
    const warnings: unknown[] = []
    const logger = { level: 'warn', stream: { write: (line: string) => void warnings.push(line) } }
    const play = async (stage: CachedApp): Promise<void> => {
      const gate = lock()
      let closed = 0
      stage.app.get('/slow', { config: { cache } }, async (_request, reply) => {
        await gate.opened
        const payload = payloadOf(() => (closed += 1))
        return sends ? await reply.send(payload) : payload
      })
      expect(await answerLate(stage, gate)).toBe(504)
      expect(closed).toBe(1)
      const late = warnings.filter((line) => String(line).includes('already sent'))
      expect(late).toEqual([])
    }
    await withApp(play, { server: { logger } })
  }
})

test('a handler that hijacks its reply after a 504 has no effect on the raw response', async () => {
  await withApp(async (stage) => {
    const gate = lock()
    const thrown: unknown[] = []
    stage.app.get('/slow', { config: { cache } }, (_request, reply) => {
      void gate.opened.then(() => {
        try {
          reply.hijack().raw.setHeader('x-late', 'yes')
          reply.raw.writeHead(200).end('late')
        } catch (error) {
          thrown.push(error)
        }
      })
    })
    expect(await answerLate(stage, gate)).toBe(504)
    expect(thrown).toEqual([])
  })
})

test('a handler that has hijacked its reply before answers by itself, also after loadTimeout', async () => {
  await withApp(async ({ app, runtime }) => {
    let held: FastifyReply | undefined
    app.get('/slow', { config: { cache } }, (_request, reply) => {
      held = reply.hijack()
    })
    const asked = app.inject('/slow').then((answer) => answer)
    await rest()
    await runtime.advance(3001)
    await rest()
    held?.raw.writeHead(200).end('late')
    expect((await asked).body).toBe('late')
  })
})

test('over HTTP/2, too, a late handler has no effect on the raw response', async () => {
  const runtime = createManualRuntime()
  const used = createCache({ runtime, store: memoryStore({ runtime }) })
  const app = Fastify({ http2: true })
  await app.register(cattlegrid, { cache: used, close: false })
  const [begun, gate] = [lock(), lock()]
  const thrown: unknown[] = []
  app.get('/slow', { config: { cache } }, async (_request, { raw }) => {
    begun.open()
    await gate.opened
    try {
      raw.setHeader('x-late', 'yes')
      raw.writeHead(200).end('late')
    } catch (error) {
      thrown.push(error)
    }
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const session = connect(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`)
  try {
    const answered = new Promise((resolve) => {
      session
        .request({ ':path': '/slow' })
        .once('response', (head) => resolve(head[':status']))
        .resume()
    })
    await begun.opened
    await runtime.advance(3001)
    expect(await answered).toBe(504)
    gate.open()
    await rest()
    expect(thrown).toEqual([])
  } finally {
    session.destroy()
    await app.close()
    const closed = used.close({ drain: 1 })
    await runtime.advance(1000)
    await closed
  }
})
