import { type ClientHttp2Session, connect } from 'node:http2'
import { Readable } from 'node:stream'
import { describe, expect, test } from '@jest/globals'
import { createCache, memoryStore } from '@cattlegrid/core'
import { createManualRuntime, type ManualRuntime } from '@cattlegrid/testkit'
import Fastify, {
  type FastifyInstance,
  type RawReplyDefaultExpression,
  type RawRequestDefaultExpression,
  type RawServerBase,
} from 'fastify'
import cattlegrid from '../src/index.ts'
import { ask } from '../../../test/wire.ts'
import { counter } from './support/cached-app.ts'

interface Answer {
  readonly head: Readonly<Record<string, unknown>>
  readonly text: string
}

interface Site {
  readonly runtime: ManualRuntime
  /** Over HTTP/2, to the app that speaks it. */
  two(path: string, fields?: Readonly<Record<string, string>>): Promise<Answer>
  /** Over HTTP/1.1, to another app on the same cache. */
  one(path: string, headers?: Readonly<Record<string, string>>): Promise<Answer>
}

async function answerOf(session: ClientHttp2Session, fields: Readonly<Record<string, string>>): Promise<Answer> {
  const stream = session.request({ ':authority': 'shop', ...fields })
  let head = {}
  stream.once('response', (received) => {
    head = { ...received, status: received[':status'] }
  })
  let text = ''
  stream.setEncoding('utf8')
  for await (const chunk of stream) text += String(chunk)
  return { head, text }
}

const options = { ttl: '10s', cacheStatus: true, range: true, staleIfError: '1m', invalidateOnUnsafe: true } as const

/** The routes of both apps; `run` is told which of them answers. */
function declare<Server extends RawServerBase>(
  app: FastifyInstance<Server, RawRequestDefaultExpression<Server>, RawReplyDefaultExpression<Server>>,
  run: () => string,
): void {
  const config = { cache: options }
  app.get('/page', { config }, async (_request, reply) => {
    const body = run()
    return reply.header('x-made', body).send(body)
  })
  app.get('/stream', { config }, async () => Readable.from([run(), ', ', 'whole']))
  const ofPage = { cache: { ...options, query: ['page'] } }
  app.get('/seen', { config: ofPage }, async ({ raw: { url, headers, rawHeaders } }) => [url, headers, rawHeaders])
  app.get('/failing', { config }, async () => {
    throw Object.assign(new Error(run()), { statusCode: 503 })
  })
  app.post('/page', { config }, async () => 'changed')
}

/** One app of each version of HTTP, over one cache. */
async function onBoth(play: (site: Site, runs: () => number) => Promise<void>): Promise<void> {
  const runtime = createManualRuntime()
  const cache = createCache({ runtime, store: memoryStore({ runtime }) })
  const origin = counter()
  const [old, young] = [Fastify({ forceCloseConnections: true }), Fastify({ http2: true })]
  await old.register(cattlegrid, { cache, close: false })
  await young.register(cattlegrid, { cache, close: false })
  declare(old, () => `${origin.next()} over 1.1`)
  declare(young, () => `${origin.next()} over 2`)
  const port = Number(new URL(await old.listen({ port: 0, host: '127.0.0.1' })).port)
  const session = connect(await young.listen({ port: 0, host: '127.0.0.1' }))
  try {
    const two: Site['two'] = (path, fields = {}) => answerOf(session, { ':path': path, ...fields })
    const one: Site['one'] = async (path, headers = {}) => {
      const { status, headers: received, body } = await ask(port, path, { headers })
      return { head: { ...received, status }, text: body.toString() }
    }
    await play({ runtime, two, one }, () => origin.runs)
  } finally {
    session.destroy()
    await Promise.all([old.close(), young.close()])
    const closed = cache.close({ drain: 1 })
    await runtime.advance(1000)
    await closed
  }
}

describe('one cache behind HTTP/1.1 and HTTP/2', () => {
  test.each([
    ['two', 'one', '/page'],
    ['one', 'two', '/page'],
    ['two', 'one', '/stream'],
    ['one', 'two', '/stream'],
  ] as const)('what %s made is served by %s: %s', async (first, second, path) => {
    await onBoth(async (site, runs) => {
      const made = await site[first](path)
      const served = await site[second](path)
      expect([made.head['status'], served.head['status'], served.text]).toEqual([200, 200, made.text])
      expect(served.head['cache-status']).toBe('cattlegrid; hit; ttl=10')
      expect(served.head['x-made']).toBe(made.head['x-made'])
      expect(runs()).toBe(1)
    })
  })

  test('a part, a stale answer in the place of a failure, and a failure itself', async () => {
    await onBoth(async ({ two }) => {
      await two('/page')
      const part = await two('/page', { range: 'bytes=0-4' })
      expect([part.head['status'], part.head['content-range'], part.text]).toEqual([206, 'bytes 0-4/12', 'run 1'])
      const failed = await two('/failing')
      expect([failed.head['status'], failed.head['cache-status']]).toEqual([
        503,
        'cattlegrid; fwd=uri-miss; detail=status',
      ])
      const cooling = await two('/failing')
      expect([cooling.head['status'], cooling.head['retry-after']]).toEqual([503, '1'])
    })
  })

  test('a Host that differs from the :authority goes past it, and other handlers see only what the key holds', async () => {
    await onBoth(async ({ two }) => {
      const evil = await two('/page', { host: 'evil' })
      expect(evil.head['cache-status']).toBe('cattlegrid; fwd=bypass; detail=authority')
      const fields = { ':authority': 'SHOP:80', host: 'Shop', ':scheme': 'evil' }
      const { text } = await two('/seen?evil=1&page=2', fields)
      expect(text).not.toMatch(/evil|SHOP|Shop|:80/)
      const inKey = { ':authority': 'shop', ':scheme': 'http', ':path': '/seen?page=2', host: 'shop' }
      expect(JSON.parse(text)).toMatchObject(['/seen?page=2', inKey, {}])
    })
  })

  test('credentials go past it and say so, and what changes a URL ends its answer for both', async () => {
    await onBoth(async ({ two, one }, runs) => {
      await two('/page')
      const own = await two('/page', { authorization: 'Basic x' })
      expect([own.text, own.head['cache-status']]).toEqual([
        'run 2 over 2',
        'cattlegrid; fwd=bypass; detail=authorization',
      ])
      expect((await two('/page', { ':method': 'POST' })).text).toBe('changed')
      expect([(await one('/page')).text, (await two('/page')).text]).toEqual(['run 3 over 1.1', 'run 3 over 1.1'])
      expect(runs()).toBe(3)
    })
  })
})
