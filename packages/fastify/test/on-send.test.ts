import { describe, expect, test } from '@jest/globals'
import { PassThrough, Readable } from 'node:stream'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { ask } from '../../../test/wire.ts'
import { cache, counter, listen, rest, withApp } from './support/cached-app.ts'

describe('onSend hooks beside ours', () => {
  test('a cookie that a hook registered after ours sets keeps the answer from everybody else', async () => {
    await withApp(async ({ app }) => {
      const origin = counter()
      app.addHook('onSend', async (request, reply) => {
        reply.header('set-cookie', `session=${String(request.headers['x-user'])}`)
      })
      app.get('/page', { config: { cache } }, async () => origin.next())
      for (const user of ['ada', 'bob']) {
        const { headers } = await app.inject({ url: '/page', headers: { 'x-user': user } })
        expect(headers['set-cookie']).toBe(`session=${user}`)
      }
      expect(origin.runs).toBe(2)
    })
  })

  test('a cookie that a hook sets on Node’s own response keeps the answer from everybody else', async () => {
    await withApp(async ({ app, bodies }) => {
      const origin = counter()
      app.addHook('onSend', async (_request, reply) => {
        reply.raw.setHeader('set-cookie', 'session=1')
      })
      app.get('/page', { config: { cache } }, async () => Readable.from([origin.next()]))
      expect(await bodies('/page', 2)).toEqual(['run 1', 'run 2'])
    })
  })

  test('no-store that a hook after ours adds is obeyed', async () => {
    await withApp(async ({ app, bodies }) => {
      const origin = counter()
      app.addHook('onSend', async (_request, reply) => {
        reply.header('cache-control', 'no-store')
      })
      app.get('/page', { config: { cache } }, async () => origin.next())
      expect(await bodies('/page', 2)).toEqual(['run 1', 'run 2'])
    })
  })

  test('a body that hooks before and after ours change is changed once, on hits too', async () => {
    const early = 'before ours: '
    await withApp(
      async ({ app, bodies }) => {
        const origin = counter()
        app.addHook('onSend', async (_request, _reply, payload) => `after(${String(payload)})`)
        app.get('/page', { config: { cache } }, async () => origin.next())
        expect(await bodies('/page', 3)).toEqual(Array(3).fill('after(before ours: run 1)'))
      },
      {
        early: (app) => {
          app.addHook('onSend', async (_request, _reply, payload) => early + String(payload))
        },
      },
    )
  })

  test('a body that a hook before ours turns into a stream is the same on hits, where its stream is let go', async () => {
    const streams: Readable[] = []
    await withApp(
      async ({ app, bodies }) => {
        const origin = counter()
        app.get('/page', { config: { cache } }, async () => origin.next())
        expect(await bodies('/page', 3)).toEqual(Array(3).fill('[run 1]'))
        expect(streams.map(({ destroyed }) => destroyed)).toEqual([true, true, true])
      },
      {
        early: (app) => {
          app.addHook('onSend', async (_request, _reply, payload) => {
            const stream = Readable.from(['[', String(payload), ']'])
            streams.push(stream)
            return stream
          })
        },
      },
    )
  })

  test('what a compressing hook after ours makes is made for each answer, and kept for none', async () => {
    await withApp(async ({ app }) => {
      const origin = counter()
      app.addHook('onSend', async (request, reply, payload) => {
        if (request.headers['accept-encoding'] !== 'gzip') return payload
        reply.headers({ 'content-encoding': 'gzip', vary: 'accept-encoding' })
        reply.removeHeader('content-length')
        return gzipSync(payload as string)
      })
      app.get('/page', { config: { cache } }, async () => origin.next())
      const gzip = { url: '/page', headers: { 'accept-encoding': 'gzip' } }
      expect(gunzipSync((await app.inject(gzip)).rawPayload).toString()).toBe('run 1')
      expect((await app.inject('/page')).body).toBe('run 1')
      expect(gunzipSync((await app.inject(gzip)).rawPayload).toString()).toBe('run 1')
      expect(origin.runs).toBe(1)
    })
  })

  describe.each(['before', 'after'])('a hook registered %s ours that sends a stream instead', (order) => {
    const BODIES = { 'a text': 'x'.repeat(1000), bytes: Buffer.alloc(1000, 'x') } as const
    const STREAMS: Readonly<Record<string, (payload: string | Buffer) => Readable>> = {
      'a shorter one': (payload) => Readable.from([Buffer.from(payload).subarray(0, 10)]),
      'a longer one': (payload) => Readable.from([payload, Buffer.from('and more')]),
    }

    test.each(Object.keys(BODIES).flatMap((body) => Object.keys(STREAMS).map((stream) => [stream, body] as const)))(
      '(%s, for %s) declares the length of nothing, on a hit as on a miss, also for HEAD',
      async (name, body) => {
        const hook = (app: FastifyInstance): void => {
          app.addHook('onSend', async (_request, _reply, payload) =>
            payload === null ? payload : STREAMS[name]?.(payload as string | Buffer),
          )
        }
        await withApp(
          async ({ app }) => {
            if (order === 'after') hook(app)
            app.get('/page', { config: { cache } }, async () => BODIES[body as keyof typeof BODIES])
            const port = await listen(app)
            const miss = await ask(port, '/page')
            const hit = await ask(port, '/page')
            const head = await ask(port, '/page', { method: 'HEAD' })
            expect(hit.headers).toHaveProperty('age')
            expect(head.headers).toHaveProperty('age')
            expect(hit.body.equals(miss.body)).toBe(true)
            for (const { headers } of [miss, hit, head]) expect(headers).not.toHaveProperty('content-length')
          },
          order === 'before' ? { early: hook } : {},
        )
      },
    )
  })

  test('a hook after ours that throws makes an error, which is not kept', async () => {
    await withApp(async ({ app, bodies, runtime }) => {
      const origin = counter()
      let broken = true
      app.addHook('onSend', async (_request, reply, payload) => {
        if (broken && reply.statusCode === 200) throw new Error('a later hook')
        return payload
      })
      app.get('/page', { config: { cache } }, async () => origin.next())
      const [failed, follower] = await Promise.all([app.inject('/page'), app.inject('/page')])
      expect(failed.statusCode).toBe(500)
      expect(failed.json()).toMatchObject({ message: 'a later hook' })
      expect(follower).toMatchObject({ statusCode: 500, body: failed.body })
      broken = false
      await runtime.advance(60_000)
      expect(await bodies('/page', 2)).toEqual(['run 2', 'run 2'])
    })
  })

  test('a hook after ours that throws at a hit makes an error, and the entry stays', async () => {
    await withApp(async ({ app, bodies }) => {
      const origin = counter()
      let broken = false
      app.addHook('onSend', async (_request, reply, payload) => {
        if (broken && reply.statusCode === 200) throw new Error('a later hook')
        return payload
      })
      app.get('/page', { config: { cache } }, async () => origin.next())
      await bodies('/page', 1)
      broken = true
      const failed = await app.inject('/page')
      expect(failed.statusCode).toBe(500)
      expect(failed.json()).toMatchObject({ message: 'a later hook' })
      broken = false
      expect(await bodies('/page', 1)).toEqual(['run 1'])
    })
  })

  test('a hook after ours that drops a stream for a body of its own leaves nothing half recorded', async () => {
    await withApp(async ({ app, bodies }) => {
      const origin = counter()
      app.addHook('onSend', async () => 'something else')
      app.get('/page', { config: { cache } }, async () => Readable.from([origin.next()]))
      expect(await bodies('/page', 2)).toEqual(['something else', 'something else'])
      expect(origin.runs).toBe(2)
    })
  })

  test('a hook after ours that changes the status keeps the answer from being stored under the old one', async () => {
    await withApp(async ({ app }) => {
      const origin = counter()
      app.addHook('onSend', async (_request, reply, payload) => {
        reply.code(203)
        return payload
      })
      app.get('/page', { config: { cache } }, async () => origin.next())
      await app.inject('/page')
      expect((await app.inject('/page')).body).toBe('run 2')
    })
  })

  test('a stream that a failing hook after ours left behind adds nothing to the error that was sent instead', async () => {
    await withApp(async ({ app }) => {
      const left = new PassThrough()
      const sent = new PassThrough()
      app.addHook('onSend', async (_request, reply, payload) => {
        if (reply.statusCode === 200) throw new Error('a later hook')
        return payload
      })
      app.setErrorHandler((_error, _request, reply) => reply.code(500).type('text/plain').send(sent))
      app.get('/page', { config: { cache } }, async () => left)
      left.write('early')
      const asked = Promise.all([app.inject('/page'), app.inject('/page')])
      await rest()
      sent.write('sor')
      await rest()
      left.end('late')
      await rest()
      sent.end('ry')
      for (const { body } of await asked) expect(body).toBe('sorry')
    })
  })

  test('a field that the handler took away stays away on hits', async () => {
    await withApp(
      async ({ app }) => {
        app.get('/page', { config: { cache } }, async (_request, reply) => {
          reply.removeHeader('x-outer')
          return 'one'
        })
        for (let turn = 0; turn < 2; turn += 1) expect((await app.inject('/page')).headers['x-outer']).toBeUndefined()
      },
      {
        early: (app) => {
          app.addHook('onRequest', async (_request, reply) => {
            reply.header('x-outer', 'yes')
          })
        },
      },
    )
  })

  test('fields that a hook sets for each request are set anew on hits', async () => {
    let requests = 0
    await withApp(
      async ({ app }) => {
        app.get('/page', { config: { cache } }, async () => 'one')
        expect((await app.inject('/page')).headers['x-request']).toBe('1')
        expect((await app.inject('/page')).headers['x-request']).toBe('2')
      },
      {
        early: (app) => {
          app.addHook('onRequest', async (_request, reply) => {
            reply.header('x-request', String(++requests))
          })
        },
      },
    )
  })
})
