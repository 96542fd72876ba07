import { isCattlegridError } from '@cattlegrid/core'
import { describe, expect, jest, test } from '@jest/globals'
import type { Response } from 'express'
import { isRefresh, type ServeError } from '../src/index.ts'
import { gate, onSite } from './support/site.ts'

describe('Cache-Status', () => {
  test('promises nothing to the client of a layer that may still add a cookie', async () => {
    await onSite(
      (app, cached) => {
        app.use('/session', (_req, res, next) => {
          const { writeHead } = res
          res.writeHead = function (this: Response, ...args: [number]) {
            this.setHeader('set-cookie', 'id=1')
            return Reflect.apply(writeHead, this, args)
          } as Response['writeHead']
          next()
        })
        app.get(['/plain', '/session'], cached({ ttl: '1h', cacheStatus: true }), (_req, res) => void res.send('one'))
      },
      async (site) => {
        expect((await site.get('/plain')).headers['cache-status']).toBe('cattlegrid; fwd=uri-miss; stored; ttl=3600')
        expect((await site.get('/session')).headers['cache-status']).toBe('cattlegrid; fwd=uri-miss')
      },
    )
  })
})

describe('a refresh inline', () => {
  test('is the run of one client’s own handler, while the others get the stale answer', async () => {
    const { opened, open } = gate()
    let runs = 0
    const seen: boolean[] = []
    await onSite(
      (app, cached) => {
        const options = { ttl: '10s', staleWhileRevalidate: '1h', refresh: 'inline' } as const
        app.get('/inline', cached(options), (req, res) => {
          seen.push(isRefresh(req))
          const run = ++runs
          void (run === 1 ? Promise.resolve() : opened).then(() => res.send(`run ${run}`))
        })
      },
      async (site) => {
        await site.get('/inline')
        await site.seen('commit', 1)
        await site.runtime.advance(11_000)
        const first = site.get('/inline').then(({ text }) => text)
        await site.seen('load', 2)
        for (const { text } of await site.crowd(10, '/inline')) expect(text).toBe('run 1')
        open()
        expect(await first).toBe('run 2')
        await site.seen('commit', 2)
        expect((await site.get('/inline')).text).toBe('run 2')
        expect(seen).toEqual([false, false])
      },
    )
  })

  const INLINE = { ttl: '10s', staleWhileRevalidate: '1h', refresh: 'inline' } as const

  test('is not put off by a HEAD request, whose handler gives no body', async () => {
    let runs = 0
    await onSite(
      (app, cached) => void app.get('/inline', cached(INLINE), (_req, res) => void res.send(`run ${++runs}`)),
      async (site) => {
        await site.get('/inline')
        await site.seen('commit', 1)
        await site.runtime.advance(11_000)
        expect((await site.head('/inline')).headers['content-length']).toBe('5')
        expect((await site.get('/inline')).text).toBe('run 2')
        expect(site.count('load')).toBe(2)
      },
    )
  })

  test.each(['inline', 'behind'] as const)(
    'or behind is not put off by a request that found all places of the route taken (%s)',
    async (refresh) => {
      const { opened, open } = gate()
      let runs = 0
      await onSite(
        (app, cached) =>
          void app.get('/page/:id', cached({ ...INLINE, refresh, maxLoads: 1 }), (req, res) => {
            runs += 1
            const text = `run ${runs}`
            void (req.params.id === 'slow' ? opened : Promise.resolve()).then(() => res.send(text))
          }),
        async (site) => {
          await site.get('/page/1')
          await site.seen('commit', 1)
          await site.runtime.advance(11_000)
          const slow = site.get('/page/slow').then(({ text }) => text)
          await site.seen('load', 2)
          expect((await site.get('/page/1')).text).toBe('run 1')
          open()
          expect(await slow).toBe('run 2')
          await site.seen('commit', 2)
          await site.get('/page/1')
          await site.seen('commit', 3)
          expect((await site.get('/page/1')).text).toBe('run 3')
        },
      )
    },
  )
})

describe('maxLoads of a route', () => {
  test('bounds the handlers that run at once over all its keys', async () => {
    const { opened, open } = gate()
    let running = 0
    let most = 0
    await onSite(
      (app, cached) => {
        app.get('/page/:id', cached({ ttl: '1h', maxLoads: 2 }), (_req, res) => {
          running += 1
          most = Math.max(most, running)
          void opened.then(() => {
            running -= 1
            res.send('one')
          })
        })
      },
      async (site) => {
        const all = Promise.all([1, 2, 3, 4, 5].map((id) => site.get(`/page/${id}`)))
        await site.seen('miss', 5)
        open()
        for (const { status } of await all) expect(status).toBe(200)
        expect(most).toBe(2)
      },
    )
  })
})

describe('onError', () => {
  test('answers in our place, or leaves it to the app', async () => {
    const errors: unknown[] = []
    const onError = (
      error: ServeError,
      _req: unknown,
      res: { statusCode: number; end(text: string): void },
    ): boolean => {
      errors.push(error)
      if (errors.length > 1) return false
      res.statusCode = 200
      res.end('something else')
      return true
    }
    await onSite(
      (app, cached) => {
        app.get('/fails', cached({ ttl: '1h', onError }), (_req, res) => void res.status(500).send('broken'))
      },
      async (site) => {
        expect((await site.get('/fails')).status).toBe(500)
        expect((await site.get('/fails')).text).toBe('something else')
        expect((await site.get('/fails')).status).toBe(503)
        expect(errors.map((error) => isCattlegridError(error) && error.code)).toEqual(
          Array(2).fill('CATTLEGRID_LOAD_FAILED'),
        )
        expect(errors[0]).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
      },
    )
  })
})

describe('a response that is kept only to be revalidated', () => {
  test('is not served to a request that waits for another process, which gets a 503 after waitTimeout', async () => {
    await onSite(
      (app, cached) =>
        void app.get(
          '/page',
          cached({ ttl: '10s', revalidate: true, softTimeout: '1s', waitTimeout: '2s' }),
          (_req, res) => void res.set('ETag', '"1"').send('one'),
        ),
      async (site) => {
        await site.get('/page')
        await site.seen('commit', 1)
        await site.runtime.advance(11_000)
        jest.spyOn(site.store, 'acquire').mockResolvedValue({ kind: 'held', remaining: 60_000 })
        const waiting = site.get('/page').then(({ status }) => status)
        await site.seen('miss', 2)
        await site.runtime.advance(1100)
        await site.seen('miss', 3)
        await site.runtime.advance(2100)
        expect(await waiting).toBe(503)
      },
    )
  })
})

describe('waitTimeout in app mode', () => {
  test('ends in a 503 for a URL whose stored response is too old for the client', async () => {
    await onSite(
      (app, cached) => {
        app.use(cached({ clientDirectives: () => true, waitTimeout: '2s' }))
        app.get('/page', (_req, res) => void res.set('Cache-Control', 'max-age=60').send('one'))
      },
      async (site) => {
        await site.get('/page')
        await site.seen('commit', 1)
        await site.runtime.advance(5000)
        jest.spyOn(site.store, 'acquire').mockResolvedValue({ kind: 'held', remaining: 60_000 })
        const waiting = site
          .get('/page')
          .set('Cache-Control', 'max-age=1')
          .then(({ status }) => status)
        await site.seen('miss', 2)
        await site.runtime.advance(2100)
        expect(await waiting).toBe(503)
      },
    )
  })
})

test('where only the cache has stale windows, the record of variants lives as long as they do', async () => {
  let broken = false
  await onSite(
    (app, cached) => {
      app.get('/a', cached({ ttl: '1m' }), (_req, res) => {
        if (broken) res.sendStatus(500)
        else res.vary('x-country').send('a')
      })
    },
    async ({ get, runtime }) => {
      await get('/a').set('x-country', 'nl')
      broken = true
      await runtime.advance(5 * 86_400_000)
      expect((await get('/a').set('x-country', 'nl')).text).toBe('a')
    },
    { staleIfError: '30d' },
  )
})

test('where only the cache has stale windows, a route that revalidates has them, too', async () => {
  let runs = 0
  await onSite(
    (app, cached) => {
      app.get('/a', cached({ ttl: '1m', revalidate: true }), (_req, res) => void res.send(`run ${(runs += 1)}`))
    },
    async ({ get, runtime, seen }) => {
      await get('/a')
      await runtime.advance(60_001)
      expect((await get('/a')).text).toBe('run 1')
      await seen('commit', 2)
    },
    { staleWhileRevalidate: '1h' },
  )
})
