import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, expect, test } from '@jest/globals'
import express, { type Request } from 'express'
import { isRefresh } from '../src/index.ts'
import { gate, onSite, until } from './support/site.ts'

const stale = { ttl: '1s', staleWhileRevalidate: '1m' } as const

describe('a refresh behind a stale answer', () => {
  test('is one subrequest, however many clients are served the stale answer meanwhile', async () => {
    const door = gate()
    let runs = 0
    await onSite(
      (app, cached) => {
        app.get('/a', cached(stale), async (_req, res) => {
          runs += 1
          if (runs > 1) await door.opened
          res.send(`run ${runs}`)
        })
      },
      async ({ get, crowd, runtime, seen }) => {
        await get('/a')
        await runtime.advance(2000)
        const during = await crowd(50, '/a')
        expect(new Set(during.map(({ text }) => text))).toEqual(new Set(['run 1']))
        expect(new Set(during.map(({ headers }) => headers['age']))).toEqual(new Set(['2']))
        await until(() => runs === 2)
        door.open()
        await seen('commit', 2)
        expect((await get('/a')).text).toBe('run 2')
        expect(runs).toBe(2)
      },
    )
  })

  test('sees the URL, the host and the scheme of the key, and nothing else of the client that caused it', async () => {
    const seen: Request[] = []
    await onSite(
      (app, cached) => {
        app.set('trust proxy', true)
        const router = express.Router()
        router.get('/:id', cached(stale), (req, res) => {
          seen.push(req)
          res.send('a')
        })
        const sub = express()
        sub.use('/deep', router)
        app.use('/sub', sub)
      },
      async ({ get, runtime }) => {
        const ask = (): Promise<unknown> =>
          get('/sub/deep/7?b=2&a=1')
            .set({ host: 'back', 'x-forwarded-host': 'shop:8443', 'x-forwarded-proto': 'https', cookie: 's=1' })
            .set({ 'user-agent': 'me', 'if-none-match': '*', range: 'bytes=0-1', 'x-forwarded-for': '1.2.3.4' })
            .then(() => undefined)
        await ask()
        await runtime.advance(2000)
        await ask()
        await until(() => seen.length === 2)
        const [, refresh] = seen
        expect(refresh).toMatchObject({
          method: 'GET',
          originalUrl: '/sub/deep/7?b=2&a=1',
          baseUrl: '/sub/deep',
          protocol: 'https',
          secure: true,
          host: 'shop:8443',
          params: { id: '7' },
          query: { a: '1', b: '2' },
          ip: '127.0.0.1',
        })
        const loop: unknown = expect.stringMatching(/^cattlegrid; load=/)
        expect(refresh?.headers).toEqual({ host: 'shop:8443', 'cdn-loop': loop })
        expect(refresh?.rawHeaders).toEqual(['Host', 'shop:8443', 'cdn-loop', loop])
        expect({ ...refresh?.headersDistinct }).toEqual({ host: ['shop:8443'], 'cdn-loop': [loop] })
      },
    )
  })

  test('does not run in the async context of the client that caused it; a leader runs in its own', async () => {
    const context = new AsyncLocalStorage<string>()
    const seen: (string | undefined)[] = []
    await onSite(
      (app, cached) => {
        app.use((req, _res, next) => {
          const client = req.get('x-client')
          if (client === undefined) next()
          else context.run(client, next)
        })
        app.get('/a', cached(stale), async (_req, res) => {
          await Promise.resolve()
          seen.push(context.getStore())
          res.send('a')
        })
      },
      async ({ get, runtime }) => {
        await get('/a').set('x-client', 'first')
        await runtime.advance(2000)
        await get('/a').set('x-client', 'second')
        await until(() => seen.length === 2)
        expect(seen).toEqual(['first', undefined])
      },
    )
  })

  test('goes through the layers above the cache, which can tell that it is one', async () => {
    const logged: boolean[] = []
    await onSite(
      (app, cached) => {
        app.use((req, _res, next) => {
          logged.push(isRefresh(req))
          next()
        })
        app.get('/a', cached(stale), (_req, res) => res.send('a'))
      },
      async ({ get, runtime, seen }) => {
        await get('/a')
        await runtime.advance(2000)
        await get('/a')
        await seen('commit', 2)
        expect(logged).toEqual([false, false, true])
      },
    )
  })

  test('stores what the inside added, and no header of the layers above it', async () => {
    let requests = 0
    await onSite(
      (app, cached) => {
        app.use((_req, res, next) => {
          requests += 1
          res.set('x-request', String(requests))
          next()
        })
        app.get('/a', cached(stale), (_req, res) => res.set('x-inside', 'yes').send('a'))
      },
      async ({ get, runtime, seen }) => {
        await get('/a')
        await runtime.advance(2000)
        await get('/a')
        await seen('commit', 2)
        expect((await get('/a')).headers).toMatchObject({
          'x-inside': 'yes',
          'x-request': '4',
          'x-powered-by': 'Express',
        })
      },
    )
  })

  test('that never ends is given up at loadTimeout, and the entry stays', async () => {
    let runs = 0
    let closed = false
    await onSite(
      (app, cached) => {
        app.get('/a', cached({ ...stale, loadTimeout: '5s' }), (_req, res) => {
          runs += 1
          if (runs === 1) res.send('a')
          else res.once('close', () => (closed = true))
        })
      },
      async ({ get, runtime, seen }) => {
        await get('/a')
        await runtime.advance(2000)
        await get('/a')
        await until(() => runs === 2)
        await runtime.advance(5000)
        await seen('outcome', 2)
        await until(() => closed)
        expect((await get('/a')).text).toBe('a')
      },
    )
  })

  test('ends like any request for a layer outside that writes on only when the line is free', async () => {
    const closed: boolean[] = []
    await onSite(
      (app, cached) => {
        app.use((req, res, next) => {
          res.once('close', () => closed.push(isRefresh(req) && res.writableFinished))
          const write = res.write.bind(res)
          const end = res.end.bind(res)
          res.end = ((body: Buffer) => {
            const send = (from: number): void => {
              if (from >= body.length) end()
              else if (write(body.subarray(from, from + 50_000))) send(from + 50_000)
              else res.once('drain', () => send(from + 50_000))
            }
            send(0)
            return res
          }) as typeof res.end
          next()
        })
        app.get('/a', cached(stale), (_req, res) => void res.send(Buffer.alloc(300_000, 'x')))
      },
      async ({ get, runtime, seen }) => {
        await get('/a')
        await runtime.advance(2000)
        await get('/a')
        await seen('commit', 2)
        await until(() => closed.length === 3)
        expect(closed).toContain(true)
      },
    )
  })
})

describe('a stale answer instead of a failure', () => {
  const route = { ttl: '1s', staleIfError: '1m', softTimeout: false, cacheStatus: true } as const

  test('reaches the leader too, whole and without a trace of the failure', async () => {
    let fails = false
    await onSite(
      (app, cached) => {
        app.get('/a', cached(route), (_req, res) => {
          if (fails) res.status(502).set({ 'x-trace': 'secret', 'set-cookie': 'a=b' }).send('oops')
          else res.set('x-inside', 'yes').send('good')
        })
      },
      async ({ get, runtime }) => {
        await get('/a')
        fails = true
        await runtime.advance(3000)
        const { status, text, headers } = await get('/a')
        expect({ status, text }).toEqual({ status: 200, text: 'good' })
        expect(headers).toMatchObject({ 'x-inside': 'yes', age: '3' })
        expect(headers['cache-status']).toBe('cattlegrid; fwd=stale; fwd-status=502; ttl=-2; detail=stale-if-error')
        expect(headers).not.toHaveProperty('x-trace')
        expect(headers).not.toHaveProperty('set-cookie')
      },
    )
  })

  test('is answered at loadTimeout when the handler hangs; what it sends later harms nobody', async () => {
    const door = gate()
    const late = gate()
    let runs = 0
    await onSite(
      (app, cached) => {
        app.get('/a', cached({ ...route, loadTimeout: '5s' }), async (_req, res) => {
          runs += 1
          if (runs > 1) await door.opened
          res.set('x-run', String(runs)).send(`run ${runs}`)
          if (runs > 1) late.open()
        })
      },
      async ({ get, runtime, seen }) => {
        await get('/a')
        await runtime.advance(3000)
        const waiting = get('/a').then((answer) => answer)
        await seen('load', 2)
        await runtime.advance(5000)
        expect((await waiting).text).toBe('run 1')
        door.open()
        await late.opened
        expect((await get('/a')).text).toBe('run 1')
      },
    )
  })

  test('does not hide an answer that is no failure', async () => {
    let gone = false
    await onSite(
      (app, cached) => {
        app.get('/a', cached(route), (_req, res) => {
          if (gone) res.status(404).send('none')
          else res.send('good')
        })
      },
      async ({ get, runtime }) => {
        await get('/a')
        gone = true
        await runtime.advance(3000)
        expect((await get('/a')).status).toBe(404)
      },
    )
  })

  test('without one in its window the failure itself is the answer', async () => {
    let fails = false
    await onSite(
      (app, cached) => {
        app.get('/a', cached(route), (_req, res) => {
          if (fails) res.status(502).set('x-trace', 'mine').send('oops')
          else res.send('good')
        })
      },
      async ({ get, runtime }) => {
        await get('/a')
        fails = true
        await runtime.advance(62_000)
        const { status, text, headers } = await get('/a')
        expect({ status, text }).toEqual({ status: 502, text: 'oops' })
        expect(headers).toHaveProperty('x-trace', 'mine')
      },
    )
  })
})
