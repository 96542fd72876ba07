import { describe, expect, test } from '@jest/globals'
import express from 'express'
import express4 from 'express4'
import { ask } from '../../../test/wire.ts'
import { gate, onSite } from './support/site.ts'

describe.each([
  ['Express 5', express],
  ['Express 4', express4],
] as const)('with %s', (_version, make) => {
  test('app.param, in a router with merged parameters, in a mounted app: each URL is an entry with what its parameters say', async () => {
    const found: string[] = []
    const door = gate()
    await onSite(
      (app, cached) => {
        const shop = make()
        shop.param('shop', (_req, res, next, name: string) => {
          res.locals['shop'] = name.toUpperCase()
          next()
        })
        const router = express.Router({ mergeParams: true })
        router.param('id', (_req, res, next, id: string) => {
          found.push(id)
          res.locals['product'] = `product ${id}`
          next()
        })
        router.get('/products/:id', cached({ ttl: '1m' }), (req, res) => {
          const { shop: name, id } = req.params as Readonly<Record<string, string>>
          const { locals } = res
          void door.opened.then(() =>
            res.json([name, id, locals['shop'], locals['product'], req.baseUrl, req.path, req.originalUrl]),
          )
        })
        shop.use('/:shop', router)
        app.use('/shops', shop)
      },
      async ({ port, seen, count }) => {
        const urls = ['/shops/a/products/1', '/shops/b/products/1', '/shops/a/products/2']
        const crowd = [...urls, ...urls, ...urls].map((url) => ask(port, url))
        await seen('load', 3)
        await seen('join', 6)
        door.open()
        const answers = [...(await Promise.all(crowd)), ...(await Promise.all(urls.map((url) => ask(port, url))))]
        for (const [index, { status, body }] of answers.entries()) {
          const url = urls[index % 3] ?? ''
          const [, , shop = '', , id = ''] = url.split('/')
          const wanted = [shop, id, shop.toUpperCase(), `product ${id}`, `/shops/${shop}`, `/products/${id}`, url]
          expect([status, JSON.parse(body.toString())]).toEqual([200, wanted])
        }
        expect(count('load')).toBe(3)
        // What stands before the cache has run for every request.
        expect(found).toHaveLength(12)
      },
      {},
      make,
    )
  })

  test('express.json before the cache: a POST is its own, a GET with a body leads for nobody', async () => {
    const seen: unknown[] = []
    await onSite(
      (app, cached) => {
        app.use(express.json())
        app.use(cached())
        app.post('/a', (req, res) => {
          res.set('cache-control', 'max-age=60').json({ posted: req.body as unknown })
        })
        app.get('/a', cached({ ttl: '1m' }), (req, res) => {
          seen.push(req.body)
          res.json({ got: (req.body as unknown) ?? null })
        })
      },
      async ({ port }) => {
        const json = { headers: { 'content-type': 'application/json' }, body: '{"a":"mine"}' }
        const textOf = async (request: Parameters<typeof ask>[2]): Promise<string> =>
          (await ask(port, '/a', request)).body.toString()
        expect(await textOf({ method: 'POST', ...json })).toBe('{"posted":{"a":"mine"}}')
        const length = { headers: { ...json.headers, 'content-length': String(json.body.length) }, body: json.body }
        expect(await textOf(length)).toBe('{"got":{"a":"mine"}}')
        const everybodys = await textOf({})
        expect(everybodys).not.toContain('mine')
        expect(await textOf(length)).toBe(everybodys)
        expect(seen).toHaveLength(2)
      },
      {},
      make,
    )
  })

  test('a route for all methods: HEAD is the GET’s entry, what changes something ends it', async () => {
    let runs = 0
    await onSite(
      (app, cached) => {
        app.all('/a', cached({ ttl: '1m', invalidateOnUnsafe: true }), (req, res) => {
          runs += 1
          res.set('x-method', req.method).send(`run ${runs}`)
        })
      },
      async ({ port }) => {
        const text = async (method: string): Promise<string> => (await ask(port, '/a', { method })).body.toString()
        expect([await text('GET'), await text('HEAD'), await text('GET')]).toEqual(['run 1', '', 'run 1'])
        expect([await text('DELETE'), await text('GET'), await text('GET')]).toEqual(['run 2', 'run 3', 'run 3'])
      },
      {},
      make,
    )
  })

  test('next("route") and next("router") after the cache: the answer of the route that followed is what is kept', async () => {
    let runs = 0
    await onSite(
      (app, cached) => {
        const router = express.Router()
        router.get('/a', cached({ ttl: '1m' }), (_req, _res, next) => next('router'))
        app.use(router)
        app.get('/a', (_req, res) => {
          runs += 1
          res.send('the app’s own')
        })
        app.get('/b', cached({ ttl: '1m' }), (_req, _res, next) => next('route'))
        app.get('/b', (_req, res) => {
          runs += 1
          res.send('the second')
        })
      },
      async ({ port }) => {
        for (const path of ['/a', '/a', '/b', '/b']) {
          const text = (await ask(port, path)).body.toString()
          expect(text).toBe(path === '/a' ? 'the app’s own' : 'the second')
        }
        expect(runs).toBe(2)
      },
      {},
      make,
    )
  })
})
