import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, pipeline, Readable } from 'node:stream'
import { afterAll, describe, expect, test } from '@jest/globals'
import express, { type Request, type Response } from 'express'
import express4 from 'express4'
import { ask } from '../../../test/wire.ts'
import { gate, onSite, until } from './support/site.ts'

const TEXT = 'Grüße von der Weide. '.repeat(5000)
const folder = mkdtempSync(join(tmpdir(), 'cattlegrid-express-'))
writeFileSync(join(folder, 'page.txt'), TEXT)
afterAll(() => rmSync(folder, { recursive: true }))

const blobStream = (): Readable => Readable.fromWeb(new Blob([TEXT]).stream() as Parameters<typeof Readable.fromWeb>[0])

/** The ways in which a handler of Express can answer, all with the same text. */
const ways: Readonly<Record<string, (req: Request, res: Response) => unknown>> = {
  'res.sendFile': (_req, res) => res.sendFile('page.txt', { root: folder }),
  'res.sendFile with an answer to ranges': (_req, res) =>
    res.sendFile('page.txt', { root: folder, acceptRanges: true, lastModified: true }),
  'res.download': (_req, res) => res.download(join(folder, 'page.txt')),
  'a piped file': (_req, res) => createReadStream(join(folder, 'page.txt')).pipe(res.type('text')),
  'a pipeline': (_req, res) => pipeline(Readable.from([TEXT.slice(0, 7), TEXT.slice(7)]), res, () => undefined),
  'a web stream': (_req, res) => blobStream().pipe(res.type('text')),
  'a web Response': async (_req, res) => {
    const answer = new Response(TEXT, { headers: { 'x-kind': 'web' } })
    for (const [name, value] of answer.headers) res.set(name, value)
    res.end(Buffer.from(await answer.arrayBuffer()))
  },
  'chunks in several codings': (_req, res) => {
    const bytes = Buffer.from(TEXT)
    res.write(bytes.subarray(0, 10).toString('hex'), 'hex')
    res.write(new Uint8Array(bytes.subarray(10, 20)))
    res.write(bytes.subarray(20, 30).toString('base64'), 'base64')
    res.end(bytes.subarray(30), () => undefined)
  },
  'writeHead with a list': (_req, res) => {
    res.writeHead(200, ['X-Twice', 'one', 'X-Twice', 'two', 'Content-Type', 'text/plain; charset=utf-8'])
    res.end(TEXT)
  },
  'writeHead with a reason and a list': (_req, res) => {
    res.writeHead(200, 'Fine', ['X-Twice', 'one', 'X-Twice', 'two'])
    res.write(TEXT.slice(0, 3))
    setImmediate(() => res.end(TEXT.slice(3)))
  },
  'flushHeaders and corked chunks': (_req, res) => {
    res.type('text').flushHeaders()
    res.cork()
    res.write(TEXT.slice(0, 99))
    res.uncork()
    res.end(TEXT.slice(99))
  },
}

describe.each([
  ['Express 5', express],
  ['Express 4', express4],
] as const)('with %s', (_version, make) => {
  test.each(Object.entries(ways))('%s: leader, followers, hit and HEAD get the same', async (_way, handler) => {
    const door = gate()
    let runs = 0
    await onSite(
      (app, cached) => {
        // So that no field is set before: Node treats a list beside others differently, and loses the first of two that share a name.
        app.disable('x-powered-by')
        app.get('/a', cached({ ttl: '1m' }), (req, res) => {
          runs += 1
          void door.opened.then(() => handler(req, res))
        })
      },
      async ({ port, count }) => {
        // A range and a condition of the leader's must not make its answer one that nobody else can use.
        const leader = ask(port, '/a', { headers: { range: 'bytes=3-8', 'if-match': '"another"' } })
        await until(() => runs === 1)
        const followers = [1, 2, 3].map(() => ask(port, '/a'))
        await until(() => count('join') === 3)
        door.open()
        const answers = [await leader, ...(await Promise.all(followers)), await ask(port, '/a')]
        const [first] = answers
        for (const { status, headers, body, whole } of answers) {
          expect({ status, whole, text: body.toString() }).toEqual({ status: 200, whole: true, text: TEXT })
          expect(headers['content-type']).toBe(first?.headers['content-type'])
          expect(headers['x-twice']).toBe(first?.headers['x-twice'])
        }
        const head = await ask(port, '/a', { method: 'HEAD' })
        expect([head.status, head.body.length, head.headers['content-length']]).toEqual([
          200,
          0,
          String(Buffer.byteLength(TEXT)),
        ])
        const again = await ask(port, '/a', { headers: { 'if-none-match': String(head.headers.etag) } })
        expect([again.status, again.body.length, runs]).toEqual([304, 0, 1])
      },
      {},
      make,
    )
  })

  test('express.static behind app.use(cached()): its files are stored as they say, with their entity-tags', async () => {
    let reads = 0
    await onSite(
      (app, cached) => {
        app.use(cached({ cacheStatus: true }))
        app.use((_req, _res, next) => {
          reads += 1
          next()
        })
        app.use('/long', express.static(folder, { maxAge: '1h', immutable: true }))
        app.use('/short', express.static(folder))
      },
      async ({ port }) => {
        const first = await ask(port, '/long/page.txt')
        const part = await ask(port, '/long/page.txt', { headers: { range: 'bytes=0-4' } })
        for (const { status, body } of [first, part, await ask(port, '/long/page.txt')])
          expect([status, body.toString()]).toEqual([200, TEXT])
        const conditional = { headers: { 'if-none-match': String(first.headers.etag) } }
        expect((await ask(port, '/long/page.txt', conditional)).status).toBe(304)
        const since = { headers: { 'if-modified-since': String(first.headers['last-modified']) } }
        expect((await ask(port, '/long/page.txt', since)).status).toBe(304)
        expect(reads).toBe(1)
        // `max-age=0` is no lifetime: each client is answered by the file.
        for (const request of [{}, { headers: { range: 'bytes=0-4' } }]) await ask(port, '/short/page.txt', request)
        expect(reads).toBe(3)
        expect((await ask(port, '/long/none.txt')).status).toBe(404)
      },
      {},
      make,
    )
  })

  test('early hints reach the client whose handler sends them; followers and hits have the answer alone', async () => {
    const door = gate()
    await onSite(
      (app, cached) => {
        app.get('/a', cached({ ttl: '1m' }), (_req, res) => {
          res.writeEarlyHints({ link: '</style.css>; rel=preload' })
          void door.opened.then(() => res.send('a'))
        })
      },
      async ({ port, seen }) => {
        const leader = ask(port, '/a')
        await seen('load', 1)
        const follower = ask(port, '/a')
        await seen('join', 1)
        door.open()
        const answers = [await leader, await follower, await ask(port, '/a')]
        expect(answers.map(({ status, body }) => [status, body.toString()])).toEqual(answers.map(() => [200, 'a']))
        expect(answers.map(({ hints }) => hints)).toEqual([['</style.css>; rel=preload'], [], []])
        for (const { headers } of answers) expect(headers).not.toHaveProperty('link')
      },
      {},
      make,
    )
  })

  test('an error in the middle of a stream cuts its own client off, gives followers 503, and is not kept', async () => {
    const door = gate()
    let runs = 0
    await onSite(
      (app, cached) => {
        app.get('/a', cached({ ttl: '1m' }), (_req, res) => {
          runs += 1
          const source = new PassThrough()
          pipeline(source, res.type('text'), () => undefined)
          source.write('half')
          if (runs > 1) source.end(' and half')
          else void door.opened.then(() => source.destroy(new Error('the database went away')))
        })
      },
      async ({ port, seen, runtime }) => {
        const leader = ask(port, '/a')
        await seen('load', 1)
        const followers = [1, 2].map(() => ask(port, '/a'))
        await seen('join', 2)
        door.open()
        expect(await leader).toMatchObject({ status: 200, whole: false })
        for (const { status, headers, body } of await Promise.all(followers)) {
          expect([status, Number(headers['retry-after'])]).toEqual([503, 1])
          expect(body.toString()).not.toContain('half')
        }
        await runtime.advance(60_000)
        for (const { whole, body } of [await ask(port, '/a'), await ask(port, '/a')])
          expect([whole, body.toString()]).toEqual([true, 'half and half'])
        expect(runs).toBe(2)
      },
      {},
      make,
    )
  })
})
