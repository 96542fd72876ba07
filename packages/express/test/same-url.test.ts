import express, { type Express, type RequestHandler, Router } from 'express'
import express4 from 'express4'
import { type Cache, createCache } from '@cattlegrid/core'
import { describe, expect, test } from '@jest/globals'
import supertest, { type Test } from 'supertest'
import { type Cached, expressCache, isRefresh } from '../src/index.ts'

type Ask = (path: string, headers?: Readonly<Record<string, string>>) => Test

async function onApp(
  make: () => Express,
  build: (app: Express, cached: Cached) => void,
  play: (ask: Ask, cache: Cache) => Promise<void>,
): Promise<void> {
  const cache = createCache()
  const app = make()
  app.set('env', 'test')
  build(app, expressCache(cache))
  try {
    await play((path, headers = {}) => supertest(app).get(path).set('host', 'shop.example').set(headers), cache)
  } finally {
    await cache.close()
  }
}

const admins: RequestHandler = (req, _res, next) => next(req.headers['x-admin'] === undefined ? 'route' : undefined)

describe.each([
  ['Express 5', express as () => Express],
  ['Express 4', express4 as () => Express],
])('two routes of one URL, on %s', (_, make) => {
  const says =
    (word: string): RequestHandler =>
    (_req, res) =>
      void res.send(word)

  test.each<[string, (app: Express, cached: Cached) => void]>([
    [
      'of one pattern',
      (app, cached) => {
        app.get('/report', admins, cached({ ttl: '1h' }), says('secret'))
        app.get('/report', cached({ ttl: '1h' }), says('public'))
      },
    ],
    [
      'of one pattern and one middleware',
      (app, cached) => {
        const shared = cached({ ttl: '1h' })
        app.get('/report', admins, shared, says('secret'))
        app.get('/report', shared, says('public'))
      },
    ],
    [
      'of two patterns',
      (app, cached) => {
        app.get('/report', admins, cached({ ttl: '1h' }), says('secret'))
        app.get('/:page', cached({ ttl: '1h' }), says('public'))
      },
    ],
    [
      'in two routers',
      (app, cached) => {
        app.use(Router().get('/report', admins, cached({ ttl: '1h' }), says('secret')))
        app.use(Router().get('/report', cached({ ttl: '1h' }), says('public')))
      },
    ],
  ])('%s, of which one gives way to whoever may not enter, have an entry each', async (_what, build) => {
    await onApp(make, build, async (ask) => {
      for (let round = 0; round < 2; round += 1) {
        expect((await ask('/report', { 'x-admin': '1' })).text).toBe('secret')
        expect((await ask('/report')).text).toBe('public')
      }
    })
  })

  test('paths that Express takes for one are one entry, as far as they are the same route and parameters', async () => {
    let runs = 0
    const build = (app: Express, cached: Cached): void =>
      void app.get('/Item/:id', cached({ ttl: '1h' }), (_req, res) => void res.send(`run ${++runs}`))
    await onApp(make, build, async (ask) => {
      for (const path of ['/item/a', '/ITEM/a/', '/item/%61', '/item/a?'])
        expect([path, (await ask(path)).text]).toEqual([path, 'run 1'])
      expect((await ask('/item/A')).text).toBe('run 2')
    })
  })

  test('a route that was left again lends its parameters to no layer behind it', async () => {
    const build = (app: Express, cached: Cached): void => {
      app.get('/item/:id', (_req, _res, next) => next('route'))
      app.use(cached({ ttl: '1h' }))
      app.use((req, res) => void res.send(req.originalUrl))
    }
    await onApp(make, build, async (ask) => {
      for (const path of ['/item/a', '/item/b', '/item/a']) expect((await ask(path)).text).toBe(path)
    })
  })

  test('a URL that something rewrote is not what it was', async () => {
    const build = (app: Express, cached: Cached): void => {
      app.use((req, _res, next) => {
        req.url = `/${String(req.headers['x-tenant'])}${req.url}`
        next()
      })
      app.get('/:tenant/home', cached({ ttl: '1h' }), (req, res) => void res.send(req.url))
    }
    await onApp(make, build, async (ask) => {
      for (const tenant of ['a', 'b', 'a'])
        expect((await ask('/home', { 'x-tenant': tenant })).text).toBe(`/${tenant}/home`)
    })
  })
})

test('an access log outside sees the URL that the client sent, also where its handler did not', async () => {
  const logged: string[] = []
  const build = (app: Express, cached: Cached): void => {
    app.use((req, res, next) => {
      if (isRefresh(req)) return next()
      for (const end of ['finish', 'close'] as const) res.once(end, () => logged.push(`${end} ${req.originalUrl}`))
      next()
    })
    app.get('/a', cached({ ttl: '1h', query: ['page', 'by'] }), (req, res) => void res.send(req.originalUrl))
  }
  const URLS = [
    ['/A/?utm=1', '/a'],
    ['/a?page=2&by=id', '/a?by=id&page=2'],
  ] as const
  for (const [target, keyed] of URLS)
    await onApp(express, build, async (ask) => {
      logged.length = 0
      expect((await ask(target)).text).toBe(keyed)
      while (logged.length < 2) await new Promise((resolve) => setImmediate(resolve))
      expect(logged).toEqual([`finish ${target}`, `close ${target}`])
    })
})
