import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { createGzip, gunzipSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import type { ErrorRequestHandler, RequestHandler } from 'express'
import supertest from 'supertest'
import { gate, onSite, until } from './support/site.ts'

/** What compression does: the body and the head change on their way from the layers inside to the socket. */
const compress: RequestHandler = (req, res, next) => {
  if (req.headers['accept-encoding']?.includes('gzip') !== true) return next()
  const own = {
    writeHead: res.writeHead.bind(res),
    write: res.write.bind(res) as (chunk: unknown) => boolean,
    end: res.end.bind(res),
  }
  const gzip = createGzip()
  gzip.on('data', (chunk) => own.write(chunk))
  gzip.on('end', () => own.end())
  const passedDown = (): void => {
    res.removeHeader('content-length')
    res.setHeader('content-encoding', 'gzip')
    res.vary('accept-encoding')
  }
  res.writeHead = ((status: number) => {
    passedDown()
    return own.writeHead(status)
  }) as typeof res.writeHead
  res.write = (chunk: unknown) => {
    if (!res.headersSent) res.writeHead(res.statusCode)
    return gzip.write(chunk)
  }
  res.end = ((chunk?: unknown) => {
    if (!res.headersSent) res.writeHead(res.statusCode)
    gzip.end(chunk)
    return res
  }) as typeof res.end
  return next()
}

describe('layers outside the cache', () => {
  test('compress what each client accepts, from the one stored body', async () => {
    let runs = 0
    await onSite(
      (app, cached) => {
        app.use(compress)
        app.get('/a', cached({ ttl: '1m' }), (_req, res) => {
          runs += 1
          res.type('text').send('plain text')
        })
      },
      async ({ port }) => {
        const ask = async (encoding: string): Promise<supertest.Response> =>
          supertest(`http://127.0.0.1:${port}`)
            .get('/a')
            .set('accept-encoding', encoding)
            .buffer(true)
            .parse((response, done) => {
              const chunks: Buffer[] = []
              response.on('data', (chunk: Buffer | string) => chunks.push(Buffer.from(chunk)))
              response.on('end', () => done(null, Buffer.concat(chunks)))
            })
        for (const encoding of ['gzip', 'identity', 'gzip', 'identity']) {
          const { headers, body } = await ask(encoding)
          const zipped = encoding === 'gzip'
          expect(headers['content-encoding']).toBe(zipped ? 'gzip' : undefined)
          const bytes = body as Buffer
          // superagent unzips by itself, even for a parser of one's own.
          const text = bytes[0] === 0x1f ? gunzipSync(bytes).toString() : bytes.toString()
          expect(text).toBe('plain text')
        }
        expect(runs).toBe(1)
      },
    )
  })

  test('set their fields for each request, also where the inside changed or removed one', async () => {
    let requests = 0
    await onSite(
      (app, cached) => {
        app.use((req, res, next) => {
          requests += 1
          res.set({
            'x-request': String(requests),
            'access-control-allow-origin': req.get('origin') ?? '*',
            'x-theme': 'light',
          })
          next()
        })
        app.get('/a', cached({ ttl: '1m' }), (_req, res) => {
          res.removeHeader('x-powered-by')
          res.set('x-theme', 'dark').send('a')
        })
      },
      async ({ get }) => {
        const answers = [await get('/a').set('origin', 'https://one'), await get('/a').set('origin', 'https://two')]
        expect(answers.map(({ headers }) => headers['x-request'])).toEqual(['1', '2'])
        const origins = answers.map(({ headers }) => headers['access-control-allow-origin'])
        expect(origins).toEqual(['https://one', 'https://two'])
        expect(answers.map(({ headers }) => headers['x-theme'])).toEqual(['dark', 'dark'])
        for (const { headers } of answers) expect(headers).not.toHaveProperty('x-powered-by')
      },
    )
  })

  test('authenticate before the cache: a stranger gets 401 while the entry is fresh, and a refresh that cannot log in keeps it', async () => {
    let runs = 0
    await onSite(
      (app, cached) => {
        const door: RequestHandler = (req, res, next) => {
          if (req.get('cookie') === 'session=1') next()
          else res.status(401).send('who are you?')
        }
        app.get('/a', door, cached({ ttl: '1s', staleWhileRevalidate: '1m' }), (_req, res) => {
          runs += 1
          res.send('members')
        })
      },
      async ({ get, runtime, seen }) => {
        expect((await get('/a').set('cookie', 'session=1')).text).toBe('members')
        expect((await get('/a')).status).toBe(401)
        await runtime.advance(2000)
        expect((await get('/a').set('cookie', 'session=1')).text).toBe('members')
        await seen('outcome', 2)
        expect((await get('/a').set('cookie', 'session=1')).text).toBe('members')
        expect((await get('/a')).status).toBe(401)
        expect(runs).toBe(1)
      },
    )
  })
})

describe('cookies', () => {
  const ways: readonly (readonly [string, (user: string) => RequestHandler])[] = [
    ['res.cookie', (user) => (_req, res) => res.cookie('session', user).send(`for ${user}`)],
    ['writeHead', (user) => (_req, res) => res.writeHead(200, ['Set-Cookie', `session=${user}`]).end(`for ${user}`)],
    [
      'setHeader before a stream',
      (user) => (_req, res) => {
        res.setHeader('set-cookie', [`session=${user}`])
        res.write('for ')
        res.end(user)
      },
    ],
    [
      'a layer inside, when the head is written',
      (user) => (_req, res) => {
        const below = res.writeHead.bind(res)
        res.writeHead = ((status: number) => {
          res.setHeader('set-cookie', `session=${user}`)
          return below(status)
        }) as typeof res.writeHead
        res.send(`for ${user}`)
      },
    ],
  ]

  test.each(ways)('set by %s: 50 clients of two users, and nobody gets the other’s', async (_, handlerFor) => {
    const door = gate()
    await onSite(
      (app, cached) => {
        app.get('/me', cached({ ttl: '1m' }), async (req, res, next) => {
          await door.opened
          await handlerFor(String(req.get('x-user')))(req, res, next)
        })
      },
      async ({ get, seen, count }) => {
        const users = Array.from({ length: 50 }, (_unused, index) => (index % 2 === 0 ? 'anna' : 'bert'))
        const answers = users.map((user) =>
          get('/me')
            .set('x-user', user)
            .then((answer) => answer),
        )
        await seen('join', 49)
        door.open()
        for (const [index, answer] of (await Promise.all(answers)).entries()) {
          const user = users[index] ?? ''
          const body: unknown = answer.text ?? answer.body
          expect(String(body)).toBe(`for ${user}`)
          expect(answer.headers['set-cookie']?.[0]).toMatch(`session=${user}`)
        }
        expect(count('load')).toBe(50)
        expect(count('commit')).toBe(0)
      },
    )
  })

  test('of a layer outside keep nobody else from leading, and reach the client with a stored answer too', async () => {
    const door = gate()
    let runs = 0
    await onSite(
      (app, cached) => {
        app.use((req, res, next) => {
          if (req.get('x-first') !== undefined) res.cookie('visit', '1')
          next()
        })
        app.get('/a', cached({ ttl: '1m' }), async (_req, res) => {
          runs += 1
          await door.opened
          res.send('a')
        })
      },
      async ({ get, count }) => {
        const ask = (first: boolean): Promise<{ headers: Record<string, string> }> =>
          get('/a')
            .set(first ? { 'x-first': '1' } : {})
            .then((answer) => answer)
        const first = ask(true)
        await until(() => runs === 1)
        const others = Array.from({ length: 20 }, () => ask(false))
        await until(() => count('join') === 19)
        door.open()
        expect((await first).headers).toHaveProperty('set-cookie')
        for (const { headers } of await Promise.all(others)) expect(headers).not.toHaveProperty('set-cookie')
        expect((await ask(true)).headers).toMatchObject({ age: '0', 'set-cookie': [expect.stringMatching('visit=1')] })
        expect([runs, count('commit')]).toEqual([2, 1])
      },
    )
  })
})

describe('errors of the cache itself', () => {
  test('go to the app’s own error handler, with a status and Retry-After', async () => {
    await onSite(
      (app, cached) => {
        app.get('/a', cached({ ttl: '1m', failureCooldown: { min: '9s', max: '9s' } }), () => {
          throw new Error('no database')
        })
        const sorry: ErrorRequestHandler = (
          error: { status?: number; headers?: object; code?: string },
          _req,
          res,
          _next,
        ) => {
          res
            .status(error.status ?? 500)
            .set({ ...error.headers })
            .json({ code: error.code ?? 'INTERNAL' })
        }
        app.use(sorry)
      },
      async ({ get }) => {
        expect((await get('/a')).body).toEqual({ code: 'INTERNAL' })
        const cooling = await get('/a')
        expect({ status: cooling.status, body: cooling.body as unknown }).toEqual({
          status: 503,
          body: { code: 'CATTLEGRID_LOAD_FAILED' },
        })
        expect(cooling.headers['retry-after']).toBe('9')
      },
    )
  })

  test('a layer outside that lost its patience is answering, and nobody interferes', async () => {
    const [door, end] = [gate(), gate()]
    await onSite(
      (app, cached) => {
        app.use((req, res, next) => {
          if (req.get('x-hasty') !== undefined) {
            setTimeout(() => res.status(503).write('too '), 20)
            void end.opened.then(() => res.end('slow'))
          }
          next()
        })
        app.get('/a', cached({ ttl: '1m' }), async (_req, res) => {
          await door.opened
          res.send('a')
        })
      },
      async (site) => {
        const leader = site.get('/a').then((answer) => answer)
        await site.seen('load', 1)
        const hasty = request(`http://127.0.0.1:${site.port}/a`, { headers: { 'x-hasty': '1' } }).end()
        const [answer] = (await once(hasty, 'response')) as [IncomingMessage]
        let received = ''
        answer.on('data', (chunk: Buffer) => (received += chunk.toString()))
        door.open()
        expect((await leader).text).toBe('a')
        await site.seen('commit', 1)
        end.open()
        await once(answer, 'end')
        expect(received).toBe('too slow')
      },
    )
  })

  test('a cache that is closed leaves the handlers alone', async () => {
    await onSite(
      (app, cached) => {
        app.get('/a', cached({ ttl: '1m' }), (_req, res) => res.send('a'))
      },
      async ({ get, cache, runtime }) => {
        const closed = cache.close({ drain: 1 })
        await runtime.advance(10)
        await closed
        expect((await get('/a')).text).toBe('a')
      },
    )
  })
})
