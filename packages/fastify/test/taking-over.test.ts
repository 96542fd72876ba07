import { describe, expect, test } from '@jest/globals'
import { Readable } from 'node:stream'
import { cache, counter, lock, rest, withApp } from './support/cached-app.ts'

describe('answers in the handler’s place', () => {
  const spare = { ttl: '10s', staleIfError: '1h', softTimeout: false } as const

  test('a stale answer replaces a failure whole: status, fields, body, and what the error handler set', async () => {
    await withApp(async ({ app, runtime }) => {
      let broken = false
      app.setErrorHandler((_error, _request, reply) =>
        reply.code(502).headers({ 'x-error': 'yes', 'set-cookie': 'error=1' }).send({ sorry: true }),
      )
      app.get('/spare', { config: { cache: spare } }, async (_request, reply) => {
        reply.header('x-run', broken ? 'two' : 'one')
        if (broken) throw new Error('no database')
        return reply.code(203).type('text/x-own').send('one')
      })
      const first = await app.inject('/spare')
      broken = true
      await runtime.advance(11_000)
      const instead = await app.inject('/spare')
      expect(instead).toMatchObject({ statusCode: 203, body: 'one' })
      expect(instead.headers).toMatchObject({ 'x-run': 'one', age: '11', 'content-length': '3' })
      expect(instead.headers).toMatchObject({ 'content-type': first.headers['content-type'] })
      expect(instead.headers['x-error']).toBeUndefined()
      expect(instead.headers['set-cookie']).toBeUndefined()
    })
  })

  test('a failure that is a stream is replaced as well, and its stream is read out', async () => {
    await withApp(async ({ app, runtime }) => {
      const failure = Readable.from(['bro', 'ken'])
      let broken = false
      app.get('/spare', { config: { cache: spare } }, async (_request, reply) =>
        broken ? reply.code(500).send(failure) : 'one',
      )
      await app.inject('/spare')
      broken = true
      await runtime.advance(11_000)
      expect(await app.inject('/spare')).toMatchObject({ statusCode: 200, body: 'one' })
      expect(failure.destroyed).toBe(true)
    })
  })

  test('a withheld failure that breaks off when no stale answer is left becomes a 503 of our own', async () => {
    await withApp(async ({ app, runtime }) => {
      const gate = lock()
      let broken = false
      async function* halves(): AsyncGenerator<string> {
        yield 'bro'
        await gate.opened
        throw new Error('the source broke')
      }
      app.get('/spare', { config: { cache: { ...spare, staleIfError: '10s' } } }, async (_request, reply) =>
        broken ? reply.code(500).header('x-trace', 'secret').send(Readable.from(halves())) : 'one',
      )
      await app.inject('/spare')
      broken = true
      await runtime.advance(11_000)
      const asked = app.inject('/spare').then((answer) => answer)
      await rest()
      await runtime.advance(12_000)
      gate.open()
      const answer = await asked
      expect(answer.statusCode).toBe(503)
      expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1)
      expect(answer.headers['x-trace']).toBeUndefined()
      expect(answer.body).not.toContain('bro')
    })
  })

  test('a handler that throws after it was overtaken is not heard, and the process lives on', async () => {
    await withApp(async ({ app, runtime }) => {
      const gate = lock()
      const origin = counter()
      app.get('/late', { config: { cache: { ttl: '10s', loadTimeout: '3s' } } }, async () => {
        const run = origin.next()
        if (run !== 'run 1') return run
        await gate.opened
        throw new Error('too late')
      })
      const asked = app.inject('/late').then((answer) => answer)
      await rest()
      await runtime.advance(3001)
      expect((await asked).statusCode).toBe(504)
      gate.open()
      await rest()
      await runtime.advance(60_000)
      expect((await app.inject('/late')).body).toBe('run 2')
    })
  })

  test('a failure too long to keep, when no stale answer is left, becomes a 503 of our own', async () => {
    await withApp(async ({ app, runtime }) => {
      const gate = lock()
      let broken = false
      const route = { ...spare, staleIfError: '10s', maxBodyBytes: 10 } as const
      app.get('/spare', { config: { cache: route } }, async () => {
        if (!broken) return 'one'
        await gate.opened
        throw new Error('no database')
      })
      await app.inject('/spare')
      broken = true
      await runtime.advance(11_000)
      const asked = app.inject('/spare').then((answer) => answer)
      await rest()
      await runtime.advance(12_000)
      gate.open()
      const answer = await asked
      expect(answer.statusCode).toBe(503)
      expect(answer.body).not.toContain('database')
    })
  })

  test.each([
    ['answers', async () => 'too late'],
    [
      'throws',
      async () => {
        throw new Error('too late')
      },
    ],
  ])('a handler that %s while its 504 is with a slow hook is not heard', async (_what, late) => {
    await withApp(async ({ app, runtime }) => {
      const handler = lock()
      const hook = lock()
      let hooked = 0
      app.addHook('onSend', async (_request, _reply, payload) => {
        hooked += 1
        await hook.opened
        return payload
      })
      app.get('/late', { config: { cache: { ttl: '10s', loadTimeout: '3s' } } }, async () => {
        await handler.opened
        return late()
      })
      const asked = app.inject('/late').then((answer) => answer)
      await rest()
      await runtime.advance(3001)
      await rest()
      handler.open()
      await rest()
      hook.open()
      const answer = await asked
      expect(answer.statusCode).toBe(504)
      expect(answer.body).not.toContain('too late')
      expect(hooked).toBe(1)
    })
  })

  test('an answer that is with a slow hook after ours when loadTimeout comes still reaches its client, once', async () => {
    await withApp(async ({ app, runtime }) => {
      const gate = lock()
      let hooked = 0
      app.addHook('onSend', async (_request, _reply, payload) => {
        hooked += 1
        await gate.opened
        return payload
      })
      app.get('/slow', { config: { cache: { ttl: '10s', loadTimeout: '3s' } } }, async () => 'one')
      const asked = app.inject('/slow').then((answer) => answer)
      await rest()
      await runtime.advance(3001)
      await rest()
      gate.open()
      expect(await asked).toMatchObject({ statusCode: 200, body: 'one' })
      expect(hooked).toBe(1)
    })
  })

  test('the Cache-Status of an answer that a later hook made an error of is taken back', async () => {
    await withApp(async ({ app }) => {
      app.addHook('onSend', async (_request, reply, payload) => {
        if (reply.statusCode === 200) throw new Error('a later hook')
        return payload
      })
      app.get('/status', { config: { cache: { ...cache, cacheStatus: true } } }, async () => 'one')
      const { headers } = await app.inject('/status')
      expect(headers['cache-status']).toBe('cattlegrid; fwd=uri-miss; detail=status')
    })
  })
})

describe('HEAD', () => {
  test('a HEAD route of its own is answered from GET’s entry, and runs where there can be none', async () => {
    await withApp(async ({ app }) => {
      const heads = counter()
      for (const [url, headers] of [
        ['/kept', {}],
        ['/own', { 'set-cookie': 'a=1' }],
      ] as const) {
        app.head(url, { config: { cache } }, async (_request, reply) => reply.header('x-head', heads.next()).send())
        app.get(url, { config: { cache } }, async (_request, reply) => reply.headers(headers).send('four'))
      }
      const kept = await app.inject({ method: 'HEAD', url: '/kept' })
      // Not every version of `inject` leaves out the body of a HEAD, as Node does on a connection.
      expect(kept.statusCode).toBe(200)
      expect(kept.headers).toMatchObject({ 'content-length': '4', age: '0' })
      expect(heads.runs).toBe(0)
      expect((await app.inject({ method: 'HEAD', url: '/own' })).headers['x-head']).toBe('run 1')
    })
  })

  test('of a client that has the entry already is told 304', async () => {
    await withApp(async ({ app }) => {
      app.get('/page', { config: { cache } }, async () => 'four')
      await app.inject('/page')
      const etag = String((await app.inject('/page')).headers['etag'])
      for (const method of ['HEAD', 'GET'] as const) {
        const same = await app.inject({ method, url: '/page', headers: { 'if-none-match': etag } })
        expect(same).toMatchObject({ statusCode: 304, body: '' })
        expect(same.headers['content-length']).toBeUndefined()
        expect(same.headers['content-type']).toBeUndefined()
      }
    })
  })

  test('of a 204 and of an empty body is what GET’s is', async () => {
    await withApp(async ({ app }) => {
      app.get('/empty', { config: { cache } }, async (_request, reply) => reply.send(''))
      app.get('/none', { config: { cache } }, async (_request, reply) => reply.code(204).send())
      for (const [url, status, length] of [
        ['/empty', 200, '0'],
        ['/none', 204, undefined],
      ] as const) {
        for (const method of ['HEAD', 'GET', 'HEAD'] as const) {
          const { statusCode, headers } = await app.inject({ method, url })
          expect([statusCode, headers['content-length']]).toEqual([status, length])
        }
      }
    })
  })
})
