import { describe, expect, jest, test } from '@jest/globals'
import express, { type Express, type RequestHandler } from 'express'
import express4 from 'express4'
import type { Cache } from '@cattlegrid/core'
import { type Cached, expressCache } from '../src/index.ts'
import { ask, textOf } from '../../../test/wire.ts'
import { onSite } from './support/site.ts'

const GUESTS = 'for everybody'
const MEMBERS = 'MEMBERS ONLY'
const member = { 'x-member': 'yes' }

const answers =
  (text: string): RequestHandler =>
  (_req, res) =>
    void res.set('cache-control', 'public, max-age=60').send(text)

type Framework = typeof express

/** Lets members into `inside`; the others go on. */
const forMembers =
  (inside: RequestHandler): RequestHandler =>
  (req, res, next) =>
    req.headers['x-member'] === 'yes' ? inside(req, res, next) : next()

function routerWith({ Router }: Framework, cached: Cached, path: string, text: string): RequestHandler {
  const router = Router()
  router.use(cached())
  router.get(path, answers(text))
  return router
}

function appWith(make: Framework, cached: Cached, path: string, text: string): Express {
  const app = make()
  app.use(cached())
  app.get(path, answers(text))
  return app
}

type Build = (app: Express, cached: Cached, make: Framework, cache: Cache) => void

/** Apps in which two places that cache may answer `/club/page`, one of them only to members. */
const LAYOUTS: Readonly<Record<string, Build>> = {
  'a router for members before app.use(cached())': (app, cached, make) => {
    app.use(forMembers(routerWith(make, cached, '/club/page', MEMBERS)))
    app.use(cached())
    app.get('/club/page', answers(GUESTS))
  },
  'two routers': (app, cached, make) => {
    app.use(forMembers(routerWith(make, cached, '/club/page', MEMBERS)))
    app.use(routerWith(make, cached, '/club/page', GUESTS))
  },
  'two routers at one mount path': (app, cached, make) => {
    app.use('/club', forMembers(routerWith(make, cached, '/page', MEMBERS)))
    app.use('/club', routerWith(make, cached, '/page', GUESTS))
  },
  'two mounted sub-apps': (app, cached, make) => {
    const guests = appWith(make, cached, '/page', GUESTS)
    app.use('/club', forMembers(appWith(make, cached, '/page', MEMBERS)))
    app.use('/club', guests)
  },
  'a function that picks a router': (app, cached, make) => {
    const members = routerWith(make, cached, '/club/page', MEMBERS)
    const guests = routerWith(make, cached, '/club/page', GUESTS)
    app.use((req, res, next) => (req.headers['x-member'] === 'yes' ? members : guests)(req, res, next))
  },
  'two routers, each with its own view of the cache': (app, _cached, make, cache) => {
    const [ofMembers, ofGuests] = [expressCache(cache.with({ ttl: '1m' })), expressCache(cache.with({ ttl: '2m' }))]
    app.use(forMembers(routerWith(make, ofMembers, '/club/page', MEMBERS)))
    app.use(routerWith(make, ofGuests, '/club/page', GUESTS))
  },
  'one middleware in two sub-apps': (app, cached, make) => {
    const shared = cached()
    const appOf = (text: string): Express => make().use(shared).get('/page', answers(text))
    const [members, guests] = [appOf(MEMBERS), appOf(GUESTS)]
    app.use('/club', forMembers(members), guests)
    app.use('/elsewhere', members)
  },
  'one middleware of a route in two sub-apps': (app, cached, make) => {
    const shared = cached()
    const gate: RequestHandler = (req, _res, next) => next(req.headers['x-member'] === 'yes' ? undefined : 'router')
    app.use('/club', make().use(gate).get('/page', shared, answers(MEMBERS)))
    app.use('/club', make().get('/page', shared, answers(GUESTS)))
  },
  'one middleware at two mount points': (app, cached, make) => {
    const shared = cached()
    const gate: RequestHandler = (req, _res, next) => next(req.headers['x-member'] === 'yes' ? undefined : 'router')
    app.use(make.Router().use(gate).use('/club', shared).get('/club/page', answers(MEMBERS)))
    app.use(shared).get('/club/page', answers(GUESTS))
  },
  'two middlewares of one app, one of them for members': (app, cached) => {
    const caches = [cached(), cached()] as const
    app.use((req, res, next) => caches[req.headers['x-member'] === 'yes' ? 0 : 1](req, res, next))
    app.get('/club/page', (req, res, next) =>
      answers(req.headers['x-member'] === 'yes' ? MEMBERS : GUESTS)(req, res, next),
    )
  },
}

describe.each([
  ['Express 5', express],
  ['Express 4', express4],
] as const)('each place of %s that caches has entries of its own', (_version, make) => {
  describe.each(Object.entries(LAYOUTS))('%s', (_layout, build) => {
    test.each([
      ['a guest does not get what a member was answered', [member, {}], [MEMBERS, GUESTS]],
      ['a member does not get what a guest was answered', [{}, member], [GUESTS, MEMBERS]],
    ] as const)('%s', async (_title, clients, texts) => {
      await onSite(
        (app, cached, cache) => build(app, cached, make, cache),
        async ({ port }) => {
          for (const [index, headers] of [...clients, ...clients].entries()) {
            const { body } = await ask(port, '/club/page', { headers })
            expect(body.toString()).toBe(texts[index % 2])
          }
        },
        {},
        make,
      )
    })
  })
})

describe.each([
  ['Express 5', express],
  ['Express 4', express4],
] as const)('one middleware that %s uses in two layers of one mount point', (_version, make) => {
  test.each<[string, string, Build]>([
    [
      'of two routers',
      '/club/page',
      (app, cached) => {
        const shared = cached()
        const gate: RequestHandler = (req, _res, next) => next(req.headers['x-member'] === 'yes' ? undefined : 'router')
        app.use('/club', make.Router().use(gate, shared).get('/page', answers(MEMBERS)))
        app.use('/club', make.Router().use(shared).get('/page', answers(GUESTS)))
      },
    ],
    [
      'of one router',
      '/page',
      (app, cached) => {
        const shared = cached()
        const [first, second] = [make.Router(), make.Router()]
        app.use((req, _res, next) => next(), forMembers(first.use(shared).get('/page', answers(MEMBERS))))
        app.use(shared, second.get('/page', answers(GUESTS)))
        app.use(shared)
      },
    ],
  ])('%s caches nothing, because Express does not tell them apart', async (_title, path, build) => {
    const told = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    await onSite(
      (app, cached, cache) => build(app, cached, make, cache),
      async ({ port, count }) => {
        expect(textOf(await ask(port, path, { headers: member }))).toBe(MEMBERS)
        for (let asked = 0; asked < 2; asked += 1) expect(textOf(await ask(port, path, {}))).toBe(GUESTS)
        expect(count('commit')).toBe(0)
      },
      {},
      make,
    )
    expect(told.mock.calls).toEqual([
      [
        expect.stringContaining('Call cached() for each router.use'),
        expect.objectContaining({ code: 'CATTLEGRID_USED_TWICE' }),
      ],
    ])
    told.mockRestore()
  })

  test.each(['/a/page', '/A/page', '/b/page'])('has a place at each of two mount points: %s', async (path) => {
    await onSite(
      (app, cached) => {
        const shared = cached()
        app.use('/a', shared)
        app.use(make.Router().use('/b', shared))
        app.get('/:mount/page', (req, res) => void res.set('cache-control', 'max-age=60').send(req.params.mount))
      },
      async ({ port }) => {
        const { body } = await ask(port, path, {})
        expect(body.toString()).toBe(path.split('/')[1])
      },
      {},
      make,
    )
  })
})
