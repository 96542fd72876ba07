import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import fastifyStatic from '@fastify/static'
import { afterAll, describe, expect, test } from '@jest/globals'
import type { FastifyReply } from 'fastify'
import { ask } from '../../../test/wire.ts'
import { cache, counter, listen, lock, stepsOf, withApp } from './support/cached-app.ts'

const TEXT = 'Grüße von der Weide. '.repeat(5000)
const folder = mkdtempSync(join(tmpdir(), 'cattlegrid-fastify-'))
const file = join(folder, 'page.txt')
writeFileSync(file, TEXT)
afterAll(() => rmSync(folder, { recursive: true }))

/** The ways in which a handler of Fastify can answer, all with the same text. */
const ways: Readonly<Record<string, (reply: FastifyReply) => unknown>> = {
  'a text': () => TEXT,
  'a Buffer': () => Buffer.from(TEXT),
  'a file’s stream': (reply) => reply.type('text/plain').send(createReadStream(file)),
  'a stream with a length': (reply) =>
    reply.header('content-length', Buffer.byteLength(TEXT)).send(Readable.from([TEXT])),
  'a web stream': (reply) => reply.type('text/plain').send(new Blob([TEXT]).stream()),
  'a web Response of a stream': () => new Response(new Blob([TEXT]).stream(), { headers: { 'x-kind': 'web' } }),
  'a web Response of a text': () => new Response(TEXT, { headers: { 'x-kind': 'web' } }),
  'reply.sendFile': (reply) => reply.sendFile('page.txt'),
}

describe('over real sockets', () => {
  test.each(Object.entries(ways))('%s: leader, followers, hit, HEAD and 304 are of one run', async (_way, answer) => {
    const door = lock()
    const origin = counter()
    await withApp(async ({ app, cache: held }) => {
      await app.register(fastifyStatic, { root: folder, serve: false })
      app.get('/page', { config: { cache } }, async (_request, reply) => {
        origin.next()
        await door.opened
        return answer(reply)
      })
      const { seen } = stepsOf(held)
      const port = await listen(app)
      // A range and a condition of the leader's must not make its answer one that nobody else can use.
      const leader = ask(port, '/page', { headers: { range: 'bytes=3-8', 'if-match': '"another"' } })
      await seen('load', 1)
      const followers = [1, 2, 3].map(() => ask(port, '/page'))
      await seen('join', 3)
      door.open()
      const answers = [await leader, ...(await Promise.all(followers)), await ask(port, '/page')]
      for (const { status, headers, body, whole } of answers) {
        expect({ status, whole, text: body.toString() }).toEqual({ status: 200, whole: true, text: TEXT })
        expect([headers['content-type'], headers['x-kind']]).toEqual([
          answers[0]?.headers['content-type'],
          answers[0]?.headers['x-kind'],
        ])
      }
      const head = await ask(port, '/page', { method: 'HEAD' })
      const length = String(Buffer.byteLength(TEXT))
      expect([head.status, head.body.length, head.headers['content-length']]).toEqual([200, 0, length])
      const again = await ask(port, '/page', { headers: { 'if-none-match': String(head.headers.etag) } })
      expect([again.status, again.body.length, origin.runs]).toEqual([304, 0, 1])
    })
  })

  test('@fastify/static: its files are stored as they say, with their entity-tags', async () => {
    await withApp(async ({ app, cache: held }) => {
      await app.register(fastifyStatic, { root: folder, prefix: '/long/', maxAge: '1h', immutable: true })
      await app.register(fastifyStatic, { root: folder, prefix: '/short/', decorateReply: false })
      const { count } = stepsOf(held)
      const port = await listen(app)
      const first = await ask(port, '/long/page.txt')
      const part = await ask(port, '/long/page.txt', { headers: { range: 'bytes=0-4' } })
      for (const { status, body } of [first, part, await ask(port, '/long/page.txt')])
        expect([status, body.toString()]).toEqual([200, TEXT])
      const conditional = { headers: { 'if-none-match': String(first.headers.etag) } }
      expect((await ask(port, '/long/page.txt', conditional)).status).toBe(304)
      const since = { headers: { 'if-modified-since': String(first.headers['last-modified']) } }
      expect((await ask(port, '/long/page.txt', since)).status).toBe(304)
      expect(count('commit')).toBe(1)
      // `max-age=0` is no lifetime: each client is answered by the file.
      for (const request of [{}, { headers: { range: 'bytes=0-4' } }]) await ask(port, '/short/page.txt', request)
      expect(count('commit')).toBe(1)
      expect((await ask(port, '/long/none.txt')).status).toBe(404)
    })
  })

  test('a hijacked reply is its client’s own, and those who wait are let go to their own', async () => {
    const door = lock()
    const origin = counter()
    await withApp(async ({ app, cache: held }) => {
      app.get('/page', { config: { cache } }, (_request, reply) => {
        const body = origin.next()
        reply.hijack()
        void door.opened.then(() => reply.raw.writeHead(200, ['x-run', body]).end(body))
      })
      const { seen } = stepsOf(held)
      const port = await listen(app)
      const crowd = [1, 2, 3, 4].map(() => ask(port, '/page'))
      await seen('join', 3)
      door.open()
      const texts = [...(await Promise.all(crowd)), await ask(port, '/page')].map(({ body }) => body.toString())
      expect(texts.toSorted()).toEqual(['run 1', 'run 2', 'run 3', 'run 4', 'run 5'])
    })
  })

  test('early hints reach the client whose handler sends them; followers and hits have the answer alone', async () => {
    const door = lock()
    await withApp(async ({ app, cache: held }) => {
      app.get('/page', { config: { cache } }, async (_request, reply) => {
        reply.raw.writeEarlyHints({ link: '</style.css>; rel=preload' })
        await door.opened
        return 'a'
      })
      const { seen } = stepsOf(held)
      const port = await listen(app)
      const leader = ask(port, '/page')
      await seen('load', 1)
      const follower = ask(port, '/page')
      await seen('join', 1)
      door.open()
      const answers = [await leader, await follower, await ask(port, '/page')]
      expect(answers.map(({ status, body }) => [status, body.toString()])).toEqual(answers.map(() => [200, 'a']))
      expect(answers.map(({ hints }) => hints)).toEqual([['</style.css>; rel=preload'], [], []])
      for (const { headers } of answers) expect(headers).not.toHaveProperty('link')
    })
  })

  test.each<[string, (source: PassThrough) => unknown]>([
    ['stream', (source) => source],
    ['web stream', (source) => Readable.toWeb(source)],
    ['web Response', (source) => new Response(Readable.toWeb(source) as unknown as ReadableStream)],
  ])(
    'an error in the middle of a %s cuts its own client off, gives followers 503, and is not kept',
    async (_kind, as) => {
      const door = lock()
      const origin = counter()
      await withApp(async ({ app, cache: held, runtime }) => {
        app.get('/page', { config: { cache } }, async (_request, reply) => {
          const source = new PassThrough()
          source.write('half')
          if (origin.next() === 'run 1')
            void door.opened.then(() => source.destroy(new Error('the database went away')))
          else source.end(' and half')
          return reply.type('text/plain').send(as(source))
        })
        const { seen } = stepsOf(held)
        const port = await listen(app)
        const leader = ask(port, '/page')
        await seen('load', 1)
        const followers = [1, 2].map(() => ask(port, '/page'))
        await seen('join', 2)
        door.open()
        expect(await leader).toMatchObject({ whole: false })
        for (const { status, headers, body } of await Promise.all(followers)) {
          expect([status, headers['retry-after']]).toEqual([503, '1'])
          expect(body.toString()).not.toContain('half')
        }
        await runtime.advance(60_000)
        for (const { whole, body } of [await ask(port, '/page'), await ask(port, '/page')])
          expect([whole, body.toString()]).toEqual([true, 'half and half'])
        expect(origin.runs).toBe(2)
      })
    },
  )
})
