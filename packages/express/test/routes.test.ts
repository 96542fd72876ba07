import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, test } from '@jest/globals'
import express, { type RequestHandler, type Response } from 'express'
import { gate, onSite } from './support/site.ts'

/** What 50 clients that ask at once get, and how often the handler ran; then the same as a hit. */
async function asked50(
  send: (res: Response) => unknown,
): Promise<{ runs: number; bodies: Set<string>; statuses: Set<number> }> {
  const door = gate()
  let runs = 0
  let result = { runs, bodies: new Set<string>(), statuses: new Set<number>() }
  await onSite(
    (app, cached) => {
      app.get('/a', cached({ ttl: '1m' }), async (_req, res) => {
        runs += 1
        await door.opened
        send(res)
      })
    },
    async ({ crowd, seen, get }) => {
      const clients = crowd(50, '/a')
      await seen('join', 49)
      door.open()
      const answers = [...(await clients), await get('/a')]
      const bodyOf = ({ text, body }: (typeof answers)[number]): string => text ?? String(body)
      result = { runs, bodies: new Set(answers.map(bodyOf)), statuses: new Set(answers.map(({ status }) => status)) }
    },
  )
  return result
}

describe('50 clients at once, whatever Express is told to send', () => {
  test.each<[string, (res: Response) => unknown, string]>([
    ['res.json', (res) => res.json({ a: 1 }), '{"a":1}'],
    ['res.send(text)', (res) => res.send('grün'), 'grün'],
    ['res.send(Buffer)', (res) => res.type('text').send(Buffer.from('bytes')), 'bytes'],
    ['res.end(text)', (res) => res.type('text').end('bare'), 'bare'],
    ['res.write', (res) => [res.type('text'), res.write('one '), res.end('two')], 'one two'],
    ['a stream', (res) => Readable.from(['one ', 'two'], { objectMode: false }).pipe(res.type('text')), 'one two'],
    ['res.writeHead with a list', (res) => res.writeHead(200, ['Content-Type', 'text/plain']).end('listed'), 'listed'],
  ])('%s: one run, one body', async (_, send, body) => {
    expect(await asked50(send)).toEqual({ runs: 1, bodies: new Set([body]), statuses: new Set([200]) })
  })

  test('res.sendFile: one run, one body', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'cattlegrid-'))
    try {
      await writeFile(join(folder, 'a.txt'), 'from the disk')
      const result = await asked50((res) => res.sendFile('a.txt', { root: folder }))
      expect(result).toEqual({ runs: 1, bodies: new Set(['from the disk']), statuses: new Set([200]) })
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  test('res.redirect is for its own client alone', async () => {
    const result = await asked50((res) => res.redirect('/elsewhere'))
    expect(result).toMatchObject({ runs: 51, statuses: new Set([302]) })
  })
})

describe('where the middleware stands', () => {
  const tell: RequestHandler = (req, res) => {
    res.json({ url: req.url, baseUrl: req.baseUrl, id: req.params['id'] })
  }

  test('in a mounted router, by the whole URL', async () => {
    await onSite(
      (app, cached) => {
        const router = express.Router()
        router.get('/:id', cached({ ttl: '1m' }), tell)
        app.use('/one', router)
        app.use('/two', router)
      },
      async ({ get, count }) => {
        expect((await get('/one/7')).body).toEqual({ url: '/7', baseUrl: '/one', id: '7' })
        expect((await get('/two/7')).body).toEqual({ url: '/7', baseUrl: '/two', id: '7' })
        expect((await get('/one/7')).body).toEqual({ url: '/7', baseUrl: '/one', id: '7' })
        expect(count('load')).toBe(2)
      },
    )
  })

  test('in front of a whole sub-app, whose answers it keeps as they say', async () => {
    await onSite(
      (app, cached) => {
        const sub = express()
        sub.get('/kept', (_req, res) => res.set('cache-control', 'max-age=60').send('kept'))
        sub.get('/personal', (_req, res) => res.send('personal'))
        app.use('/sub', cached(), sub)
      },
      async ({ get, count }) => {
        for (const path of ['/sub/kept', '/sub/kept', '/sub/kept']) expect((await get(path)).text).toBe('kept')
        expect(count('load')).toBe(1)
        for (const path of ['/sub/personal', '/sub/personal']) expect((await get(path)).text).toBe('personal')
        expect(count('load')).toBe(3)
      },
    )
  })

  test('before the whole app: an error says nothing about other clients, and is nobody else’s', async () => {
    const door = gate()
    await onSite(
      (app, cached) => {
        app.use(cached())
        app.get('/me', async (req, res) => {
          await door.opened
          const status = Number(req.get('x-status'))
          res.status(status).send(`${status} for ${req.get('x-user')}`)
        })
      },
      async ({ get, seen }) => {
        const users = [500, 404, 200, 503, 400, 200].map((status, user) => ({ status, user: String(user) }))
        const answers = users.map(({ status, user }) =>
          get('/me')
            .set({ 'x-status': String(status), 'x-user': user })
            .then((answer) => answer.text),
        )
        await seen('join', 5)
        door.open()
        expect(await Promise.all(answers)).toEqual(users.map(({ status, user }) => `${status} for ${user}`))
        expect((await get('/me').set({ 'x-status': '200', 'x-user': '7' })).text).toBe('200 for 7')
      },
    )
  })

  test('before the app and again on a route: each keeps by its own rules, and one run serves a crowd', async () => {
    const door = gate()
    let runs = 0
    await onSite(
      (app, cached) => {
        app.use(cached())
        app.get('/a', cached({ ttl: '1m' }), async (_req, res) => {
          runs += 1
          await door.opened
          res.send('a')
        })
      },
      async ({ crowd, seen, get }) => {
        const clients = crowd(50, '/a')
        await seen('join', 49)
        door.open()
        expect(new Set((await clients).map(({ text }) => text))).toEqual(new Set(['a']))
        expect((await get('/a')).headers).toMatchObject({ age: '0' })
        expect(runs).toBe(1)
      },
    )
  })

  test('a 404 of Express itself is short-lived, an error page of an error handler is never kept', async () => {
    let broken = true
    await onSite(
      (app, cached) => {
        app.use(cached({ ttl: '1m' }))
        app.get('/a', (_req, res) => {
          if (broken) throw new Error('no database')
          res.send('a')
        })
        const sorry: express.ErrorRequestHandler = (_error, _req, res, _next) => {
          res.status(500).send('sorry')
        }
        app.use(sorry)
      },
      async ({ get, count, runtime }) => {
        await get('/none').expect(404)
        await get('/none').expect(404)
        expect(count('load')).toBe(1)
        expect((await get('/a').expect(500)).text).toBe('sorry')
        broken = false
        await runtime.advance(60_000)
        expect((await get('/a').expect(200)).text).toBe('a')
      },
    )
  })

  test('two ports of one host, and two hosts, are not one site', async () => {
    await onSite(
      (app, cached) => {
        app.get('/a', cached({ ttl: '1m' }), (req, res) => res.send(req.host))
      },
      async ({ get }) => {
        for (const host of ['a.example', 'a.example:81', 'b.example'])
          expect((await get('/a').set('host', host)).text).toBe(host)
        expect((await get('/a').set('host', 'A.EXAMPLE:80')).text).toBe('a.example')
      },
    )
  })

  test('a forwarded host counts only where the proxy is trusted', async () => {
    const ask = async (trust: boolean): Promise<readonly string[]> => {
      const seen: string[] = []
      await onSite(
        (app, cached) => {
          app.set('trust proxy', trust)
          app.get('/a', cached({ ttl: '1m' }), (req, res) => res.send(`${req.protocol}://${req.host}`))
        },
        async ({ get, count }) => {
          const proxied = get('/a').set({ host: 'back', 'x-forwarded-host': 'shop', 'x-forwarded-proto': 'https' })
          seen.push((await proxied).text, (await get('/a').set('host', 'back')).text, `${count('load')} loads`)
        },
      )
      return seen
    }
    expect(await ask(true)).toEqual(['https://shop', 'http://back', '2 loads'])
    expect(await ask(false)).toEqual(['http://back', 'http://back', '1 loads'])
  })
})

test('an empty X-Forwarded-Host of a trusted proxy names no host: each Host has its own entry', async () => {
  await onSite(
    (app, cached) => {
      app.set('trust proxy', true)
      app.get('/a', cached({ ttl: '1m' }), (req, res) => void res.send(req.headers.host))
    },
    async ({ get }) => {
      for (const host of ['first', 'second'])
        expect((await get('/a').set({ host, 'x-forwarded-host': '' })).text).toBe(host)
    },
  )
})
