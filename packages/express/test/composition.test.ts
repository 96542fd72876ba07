import { describe, expect, test } from '@jest/globals'
import express, { Router } from 'express'
import express4 from 'express4'
import { createCache } from '@cattlegrid/core'
import supertest from 'supertest'
import { expressCache, isRefresh } from '../src/index.ts'
import { onSite } from './support/site.ts'

describe.each([
  ['Express 5', express],
  ['Express 4', express4],
] as const)('beside other parts of %s', (_version, make) => {
  test('the case of a mount path makes no entries', async () => {
    let runs = 0
    await onSite(
      (app, cached) => {
        const router = Router()
        router.get('/page', cached({ ttl: '1m' }), (_req, res) => void res.send(`run ${++runs}`))
        app.use('/shop', router)
      },
      async ({ get }) => {
        for (const path of ['/shop/page', '/SHOP/page', '/Shop/page']) expect((await get(path)).text).toBe('run 1')
      },
      {},
      make,
    )
  })

  test('the case of a parameter in a mount path makes entries', async () => {
    await onSite(
      (app, cached) => {
        const router = Router()
        router.get('/page', cached({ ttl: '1m' }), (req, res) => void res.send(req.baseUrl))
        app.use('/:tenant', router)
      },
      async ({ get }) => {
        for (const tenant of ['/acme', '/Acme']) expect((await get(`${tenant}/page`)).text).toBe(tenant)
      },
      {},
      make,
    )
  })

  test('the case of a mount path in a router that distinguishes it makes entries', async () => {
    await onSite(
      (app, cached) => {
        const strict = Router({ caseSensitive: true })
        const router = Router()
        router.get('/page', cached({ ttl: '1m' }), (req, res) => void res.send(req.baseUrl))
        strict.use('/a', router)
        strict.use('/A', router)
        app.use('/', strict)
      },
      async ({ get }) => {
        for (const mount of ['/a', '/A']) expect((await get(`${mount}/page`)).text).toBe(mount)
      },
      {},
      make,
    )
  })

  test('the case of the path of a mounted app makes no entries', async () => {
    let runs = 0
    await onSite(
      (app, cached) => {
        const sub = make()
        sub.get('/page', cached({ ttl: '1m' }), (req, res) => void res.send(`${req.baseUrl} run ${++runs}`))
        app.use('/shop', sub)
      },
      async ({ get }) => {
        for (const path of ['/SHOP/page', '/shop/Page/']) expect((await get(path)).text).toBe('/shop run 1')
      },
      {},
      make,
    )
  })

  test('a PUT ends what another spelling of its URL filled', async () => {
    let runs = 0
    await onSite(
      (app, cached) => {
        const cache = cached({ ttl: '1m', invalidateOnUnsafe: true })
        app.get('/products/:id', cache, (_req, res) => void res.send(`run ${++runs}`))
        app.put('/products/:id', cache, (_req, res) => void res.send('done'))
      },
      async ({ get, port }) => {
        const paths = ['/products/7', '/PRODUCTS/7', '/products/7/']
        for (const path of paths)
          for (const written of paths) {
            const { text } = await get(path)
            await supertest(`http://127.0.0.1:${port}`).put(written)
            expect((await get(path)).text).not.toBe(text)
          }
      },
      {},
      make,
    )
  })

  test('a PUT ends what another spelling of its URL filled in front of a whole app', async () => {
    let runs = 0
    await onSite(
      (app, cached) => {
        app.use(cached())
        app.get('/products/:id', (_req, res) => void res.set('cache-control', 'max-age=60').send(`run ${++runs}`))
        app.put('/products/:id', (_req, res) => void res.send('done'))
      },
      async ({ get, port }) => {
        await get('/products/7/')
        await supertest(`http://127.0.0.1:${port}`).put('/PRODUCTS/7')
        expect((await get('/products/7/')).text).toBe('run 2')
      },
      {},
      make,
    )
  })

  test.each([
    ['unlisted parameters are', '/page?utm=evil&by=id&page=2'],
    ['the order of listed ones is', '/page?page=2&by=id'],
  ])('%s unreadable in req._parsedUrl', async (_what, target) => {
    const seen: unknown[] = []
    await onSite(
      (app, cached) => {
        app.use((req, res, next) => {
          if (!isRefresh(req)) res.once('finish', () => seen.push(req.path, req.url, { ...req.query }))
          next()
        })
        app.get('/page', cached({ ttl: '1m', query: ['page', 'by'] }), (req, res) => {
          res.send(JSON.stringify([Reflect.get(req, '_parsedUrl'), req.path, req.url, req.query]))
        })
      },
      async ({ get }) => {
        const { text } = await get(target)
        const keyed = { pathname: '/page', search: '?by=id&page=2', query: 'by=id&page=2', path: '/page?by=id&page=2' }
        const [parsedUrl, ...others] = JSON.parse(text) as unknown[]
        expect(parsedUrl).toMatchObject(keyed)
        expect(others).toEqual(['/page', '/page?by=id&page=2', { by: 'id', page: '2' }])
        expect(seen).toEqual(['/page', target, Object.fromEntries(new URL(target, 'http://shop').searchParams)])
      },
      {},
      make,
    )
  })

  test('a ttl among the options of expressCache stores nothing of app.use(cached())', async () => {
    let runs = 0
    const cache = createCache()
    const app = make()
    // Its route stays on the request.
    app.get('/account', (_req, _res, next) => next())
    app.use(expressCache(cache, { ttl: '1m' })())
    app.get('/account', (_req, res) => void res.send(`run ${++runs}`))
    for (const run of [1, 2])
      expect((await supertest(app).get('/account').set('host', 'shop.example')).text).toBe(`run ${run}`)
    await cache.close({ drain: 1 })
  })

  test('a ttl among the options of expressCache counts for a route', async () => {
    let runs = 0
    const cache = createCache()
    const app = make()
    const cached = expressCache(cache, { ttl: '1m' })
    const router = Router()
    router.route('/page').get(cached({ query: false }), (_req, res) => void res.send(`run ${++runs}`))
    app.use('/shop', router)
    for (const _ of [1, 2])
      expect((await supertest(app).get('/shop/page').set('host', 'shop.example')).text).toBe('run 1')
    await cache.close({ drain: 1 })
  })
})
