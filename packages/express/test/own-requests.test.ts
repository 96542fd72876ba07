import { describe, expect, test } from '@jest/globals'
import express, { type Express, type Request, type RequestHandler } from 'express'
import express4 from 'express4'
import session from 'express-session'
import type { Cached } from '../src/index.ts'
import { ask } from '../../../test/wire.ts'
import { onSite } from './support/site.ts'

const window = { ttl: '10s', staleWhileRevalidate: '10m' } as const
const phone = { 'user-agent': 'a phone' }

const answers =
  (text: string): RequestHandler =>
  (_req, res) =>
    void res.set('cache-control', 'max-age=10, stale-while-revalidate=600').send(text)

/** Apps that answer a phone by another page; a request of the cache's own has no User-Agent. */
const LAYOUTS: Readonly<Record<string, (app: Express, cached: Cached) => void>> = {
  'a URL that is rewritten by User-Agent before app.use(cached())': (app, cached) => {
    app.use((req, _res, next) => {
      if (req.headers['user-agent'] === 'a phone') req.url = `/phone${req.url}`
      next()
    })
    app.use(cached())
    app.get('/phone/page', answers('for phones'))
    app.get('/page', answers('for desktops'))
  },
  'a URL that is rewritten by User-Agent before a route of all pages': (app, cached) => {
    app.use((req, _res, next) => {
      if (req.headers['user-agent'] === 'a phone') req.url = `/phone${req.url}`
      next()
    })
    app.get(['/page', '/phone/page'], cached(window), (req, res, next) =>
      answers(req.path === '/page' ? 'for desktops' : 'for phones')(req, res, next),
    )
  },
}

describe.each([
  ['Express 5', express],
  ['Express 4', express4],
] as const)('a request of the cache’s own in %s', (_version, make) => {
  describe.each(Object.entries(LAYOUTS))('with %s', (_layout, build) => {
    test('never replaces a phone’s page by the one for desktops', async () => {
      await onSite(
        build,
        async ({ port, runtime, seen }) => {
          const askAsPhone = async (): Promise<string> => (await ask(port, '/page', { headers: phone })).body.toString()
          const texts = [await askAsPhone()]
          await runtime.advance(11_000)
          texts.push(await askAsPhone())
          await seen('outcome', 2)
          texts.push(await askAsPhone(), await askAsPhone())
          expect(texts).toEqual(Array(4).fill('for phones'))
        },
        {},
        make,
      )
    })

    test('stores nothing for a phone that asks for a cold page by HEAD', async () => {
      await onSite(
        build,
        async ({ port }) => {
          await ask(port, '/page', { method: 'HEAD', headers: phone })
          expect((await ask(port, '/page', { headers: phone })).body.toString()).toBe('for phones')
        },
        {},
        make,
      )
    })
  })

  test('never replaces the page of a session in key.extra by a visitor’s', async () => {
    await onSite(
      (app, cached) => {
        app.use(session({ secret: 'no secret', resave: false, saveUninitialized: false }))
        app.get('/login/:user', (req, res) => {
          req.session.user = req.params.user
          res.send('welcome')
        })
        const userOf = ({ session: own }: Request): string => own.user ?? 'nobody'
        const key = { extra: userOf as (request: never) => string }
        app.get('/me', cached({ ...window, key, allowReads: ['session'] } as object), (req, res) => {
          res.send(`for ${userOf(req)}`)
        })
      },
      async ({ port, runtime, seen }) => {
        const [given = ''] = (await ask(port, '/login/ann')).headers['set-cookie'] ?? []
        const cookie = given.split(';')[0] ?? ''
        const askAsAnn = async (): Promise<string> => (await ask(port, '/me', { headers: { cookie } })).body.toString()
        const texts = [await askAsAnn()]
        await runtime.advance(11_000)
        texts.push(await askAsAnn())
        await seen('outcome', 2)
        texts.push(await askAsAnn(), await askAsAnn())
        expect(texts).toEqual(Array(4).fill('for ann'))
      },
      {},
      make,
    )
  })
})
