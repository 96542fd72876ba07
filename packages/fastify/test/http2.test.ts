import { once } from 'node:events'
import { type ClientHttp2Stream, constants } from 'node:http2'
import { PassThrough, Readable } from 'node:stream'
import { describe, expect, test } from '@jest/globals'
import { counter, lock, rest } from './support/cached-app.ts'
import { type Http2Reply, onHttp2 } from './support/http2-site.ts'

/** Ends a stream from the client’s side, and lets the server see it. */
async function reset(stream: ClientHttp2Stream): Promise<void> {
  stream.on('error', () => undefined)
  stream.close(constants.NGHTTP2_CANCEL)
  await once(stream, 'close')
  await rest()
}

/** All with the same body. */
const ways: Readonly<Record<string, (reply: Http2Reply, body: string) => unknown>> = {
  'a text': (_reply, body) => body,
  'a Buffer': (_reply, body) => Buffer.from(body),
  'a stream': (_reply, body) => Readable.from([body.slice(0, 2), body.slice(2)]),
  'a web stream': (_reply, body) => new Blob([body]).stream(),
  'a web Response': (_reply, body) => new Response(body),
}

describe('over HTTP/2', () => {
  test.each(Object.entries(ways))(
    '%s is made once for a leader, 49 followers, hits, HEAD and 304',
    async (_way, answer) => {
      const door = lock()
      const origin = counter()
      await onHttp2(
        async (_request, reply) => {
          await door.opened
          return answer(reply, origin.next())
        },
        async ({ ask, seen }) => {
          const crowd = Array.from({ length: 50 }, () =>
            ask('/page', { 'accept-encoding': 'gzip', 'if-none-match': 'W/"x"' }),
          )
          await seen('join', 49)
          door.open()
          for (const { head, text } of [...(await Promise.all(crowd)), await ask('/page')])
            expect([head[':status'], text]).toEqual([200, 'run 1'])
          const head = await ask('/page', { ':method': 'HEAD' })
          expect([head.head[':status'], head.head['content-length'], head.text]).toEqual([200, '5', ''])
          const conditional = await ask('/page', { 'if-none-match': String(head.head['etag']) })
          expect([conditional.head[':status'], conditional.text]).toEqual([304, ''])
          expect(origin.runs).toBe(1)
        },
      )
    },
  )

  test('the handler sees the host of the key in `Host`, also when its client sends `:authority` alone', async () => {
    await onHttp2(
      (request) => `at ${request.headers.host}, ${request.raw.rawHeaders.filter((text) => text === 'host').length}`,
      async ({ ask }) => expect((await ask('/page', { ':authority': 'shop.example' })).text).toBe('at shop.example, 1'),
    )
  })

  test('a HEAD where nothing is stored is filled by a GET, and a stale answer is refreshed behind', async () => {
    const origin = counter()
    const targets: unknown[] = []
    await onHttp2(
      (request) => {
        targets.push([request.method, request.url, request.protocol, request.host.startsWith('127.0.0.1:')])
        return origin.next()
      },
      async ({ ask, seen, runtime }) => {
        expect((await ask('/page', { ':method': 'HEAD' })).head[':status']).toBe(200)
        expect((await ask('/page')).text).toBe('run 1')
        await runtime.advance(11_000)
        expect((await ask('/page')).text).toBe('run 1')
        await seen('outcome', 2)
        expect((await ask('/page')).text).toBe('run 2')
        expect(targets).toEqual([1, 2].map(() => ['GET', '/page', 'http', true]))
      },
      { staleWhileRevalidate: '1m' },
    )
  })

  test('fields of a connection are neither stored nor sent, and a cookie keeps its answer from others', async () => {
    const origin = counter()
    await onHttp2(
      (request, reply) => {
        if (request.headers['x-mode'] !== undefined)
          reply.header('set-cookie', `user=${String(request.headers['x-mode'])}`)
        return reply.headers({ connection: 'keep-alive', 'x-kept': 'yes' }).send(origin.next())
      },
      async ({ ask, runtime }) => {
        for (const user of ['ann', 'bob'])
          expect((await ask('/page', { 'x-mode': user })).head['set-cookie']).toEqual([`user=${user}`])
        // An answer that was its client’s own says so of its URL for a while.
        await runtime.advance(11_000)
        const answers = [await ask('/page'), await ask('/page')]
        for (const { head, text } of answers) {
          expect([head['x-kept'], text]).toEqual(['yes', answers[0]?.text])
          for (const name of ['connection', 'set-cookie']) expect(head).not.toHaveProperty(name)
        }
      },
    )
  })
})

describe('a stream of HTTP/2 that its client resets', () => {
  test.each(Object.entries(ways))(
    'before %s was sent: the handler finishes for the others, and its answer is stored',
    async (_way, answer) => {
      const door = lock()
      const origin = counter()
      await onHttp2(
        async (_request, reply) => {
          const body = origin.next()
          await door.opened
          return answer(reply, body)
        },
        async ({ open, ask, seen }) => {
          const leader = open('/page')
          await seen('load', 1)
          const followers = [1, 2, 3].map(() => ask('/page'))
          const leaver = open('/page')
          await seen('join', 4)
          await reset(leader)
          await reset(leaver)
          door.open()
          expect((await Promise.all(followers)).map(({ text }) => text)).toEqual(Array(3).fill('run 1'))
          expect((await ask('/page')).text).toBe('run 1')
        },
      )
    },
  )

  test('in the middle of a body: a follower leads, and nobody sees half an answer', async () => {
    const origin = counter()
    await onHttp2(
      (_request, reply) => {
        const body = origin.next()
        const source = new PassThrough()
        source.write('half ')
        if (body !== 'run 1') source.end('and half')
        return reply.type('text/plain').send(source)
      },
      async ({ open, ask, seen }) => {
        const leader = open('/page')
        await once(leader, 'data')
        const followers = [1, 2, 3].map(() => ask('/page'))
        await seen('join', 3)
        await reset(leader)
        expect((await Promise.all(followers)).map(({ text }) => text)).toEqual(Array(3).fill('half and half'))
        expect(origin.runs).toBe(2)
      },
    )
  })

  test('before an empty stream was sent: the handler finishes for the others', async () => {
    const door = lock()
    const origin = counter()
    await onHttp2(
      async () => {
        origin.next()
        await door.opened
        return Readable.from([])
      },
      async ({ open, ask, seen }) => {
        const leader = open('/page')
        await seen('load', 1)
        const follower = ask('/page')
        await seen('join', 1)
        await reset(leader)
        door.open()
        expect(await follower).toMatchObject({ head: { ':status': 200 }, text: '' })
        expect(origin.runs).toBe(1)
      },
    )
  })

  test('whose handler then destroys the response: it fails for nobody else', async () => {
    const origin = counter()
    await onHttp2(
      async ({ raw }, reply) => {
        const body = origin.next()
        if (body !== 'run 1') return body
        await once(raw, 'close')
        reply.raw.destroy()
        return reply
      },
      async ({ open, ask, seen }) => {
        const leader = open('/page')
        await seen('load', 1)
        const follower = ask('/page')
        await seen('join', 1)
        await reset(leader)
        expect((await follower).text).toBe('run 2')
      },
    )
  })

  test('whose handler fails because of that: it fails for nobody else', async () => {
    const origin = counter()
    await onHttp2(
      async ({ raw }) => {
        const body = origin.next()
        if (body !== 'run 1') return body
        await once(raw, 'close')
        throw new Error('nobody is there')
      },
      async ({ open, ask, seen }) => {
        const leader = open('/page')
        await seen('load', 1)
        const followers = [1, 2, 3].map(() => ask('/page'))
        await seen('join', 3)
        await reset(leader)
        for (const { head, text } of await Promise.all(followers))
          expect([head[':status'], text]).toEqual([200, 'run 2'])
      },
    )
  })

  test('whose handler fails in the middle of its body gives followers 503 and keeps nothing', async () => {
    const door = lock()
    const origin = counter()
    await onHttp2(
      (_request, reply) => {
        const source = new PassThrough()
        source.write('half ')
        if (origin.next() === 'run 1') void door.opened.then(() => source.destroy(new Error('no database')))
        else source.end('and half')
        return reply.type('text/plain').send(source)
      },
      async ({ open, ask, seen, runtime }) => {
        const leader = open('/page')
        leader.on('error', () => undefined)
        await once(leader, 'data')
        const followers = [1, 2].map(() => ask('/page'))
        await seen('join', 2)
        door.open()
        for (const { head, text } of await Promise.all(followers)) {
          expect([head[':status'], head['retry-after']]).toEqual([503, '1'])
          expect(text).not.toContain('half')
        }
        await runtime.advance(60_000)
        expect([(await ask('/page')).text, (await ask('/page')).text]).toEqual(Array(2).fill('half and half'))
      },
    )
  })
})
