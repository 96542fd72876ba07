import { type Cache, createCache, memoryStore } from '@cattlegrid/core'
import { type Cached, expressCache, isRefresh } from '@cattlegrid/express'
import { expect, jest, test } from '@jest/globals'
import express, { type Express } from 'express'
import express4 from 'express4'
import request from 'supertest'
import { describeMisuses, type Misuse, refused, warned } from './misuse.ts'

interface Page {
  readonly app: Express
  readonly cached: Cached
  readonly handler: (req: unknown, res: { send(text: string): unknown }) => void
}

const cache = (): Cache => createCache({ ttl: '1m' })

/** A page that declares no freshness and works as without the cache: three clients get an answer each of its own. */
function page(makeApp: () => Express, declare: (page: Page) => void, post = false): () => Promise<void> {
  return async () => {
    const used = cache()
    const app = makeApp()
    let runs = 0
    declare({ app, cached: expressCache(used), handler: (_, res) => void res.send(`run ${++runs}`) })
    const server = app.listen(0)
    for (const run of [1, 2, 3]) {
      const ask = request(server)
      await (post ? ask.post('/page') : ask.get('/page')).expect(200, `run ${run}`)
    }
    await new Promise((resolve) => server.close(resolve))
    await used.close()
  }
}

const declared: Cached = expressCache(createCache())

describeMisuses('cached() of Express, when the app is made', [
  refused(
    'expressCache is called without a cache',
    /'cache' is undefined; accepted: a cache made by createCache\(\)/,
    // @ts-expect-error the types refuse it
    () => expressCache(),
  ),
  refused('expressCache gets a store', /'cache' is a store, .*accepted: a cache made by createCache\(\)/, () =>
    // @ts-expect-error the types refuse it
    expressCache(memoryStore()),
  ),
  refused('expressCache gets a closed cache', /'cache' is closed; accepted: a cache that is open/, async () => {
    const used = cache()
    await used.close()
    expressCache(used)
  }),
  refused('cached gets a host', /'cached\.host' is unknown \(did you mean key: \{ host \}\?\)/, () =>
    // @ts-expect-error the types refuse it
    declared({ host: false }),
  ),
  refused('skip gets what isRefresh returns', /'isRefresh' is undefined; accepted: a request.*isRefresh itself/, () =>
    // @ts-expect-error the types refuse it
    declared({ skip: isRefresh() }),
  ),
  refused('expressCache gets { cache }', /'cache' is \{ .*\(its member 'cache' alone is meant\)/, () =>
    // @ts-expect-error the types refuse it
    expressCache({ cache: cache() }),
  ),
  // @ts-expect-error the types refuse it
  refused('cached gets the ttl alone', /'cached' is '30s' \(did you mean \{ ttl: '30s' \}\?\)/, () => declared('30s')),
  refused(
    'cached gets the handler, too',
    /'cached' got a handler; accepted: options alone.*app\.get\(path, cached\(/,
    // @ts-expect-error the types refuse it
    () => declared({ ttl: '1m' }, () => undefined),
  ),
  refused('tags is an async function', /'cached\.tags' is an async function \(it must answer at once/, () =>
    // @ts-expect-error the types refuse it
    declared({ ttl: '1m', tags: async () => ['products'] }),
  ),
  refused('key.extra is an async function', /'cached\.key\.extra' is an async function \(it must answer at once/, () =>
    // @ts-expect-error the types refuse it
    declared({ ttl: '1m', key: { extra: async () => 'tenant' } }),
  ),
  refused('skip is an async function', /'cached\.skip' is an async function \(it must answer at once/, () =>
    // @ts-expect-error the types refuse it
    declared({ ttl: '1m', skip: async () => false }),
  ),
  refused('the tags of a route are a text', /'cached\.tags' is 'products' \(did you mean \[ 'products' \]\?\)/, () =>
    // @ts-expect-error the types refuse it
    declared({ ttl: '1m', tags: 'products' }),
  ),
])

function atRequests(makeApp: () => Express): readonly Misuse[] {
  const answer = (title: string, says: RegExp, options: object): Misuse =>
    warned(
      title,
      'CATTLEGRID_OPTION_ANSWER',
      says,
      play(({ app, cached, handler }) => {
        app.get('/page', cached({ ttl: '1m', ...options }), handler)
      }),
    )
  const play = (declare: (page: Page) => void, post = false): (() => Promise<void>) => page(makeApp, declare, post)
  return [
    answer('tags returns a text', /^cached\.tags returned a text, so no response is stored.*a list/, {
      tags: () => 'a',
    }),
    answer(
      'tags returns a missing value',
      /^cached\.tags returned a list whose element 0 is undefined, so no response/,
      {
        tags: () => [undefined],
      },
    ),
    warned(
      'the ttl of app.use(cached()) is given to expressCache',
      'CATTLEGRID_NO_TTL',
      /^The response of \/page declares no freshness.*app\.use: cached\(\{ ttl \}\); that of the adapter counts only/,
      play(({ app, handler }) => {
        app.use(expressCache(createCache(), { ttl: '1m' })())
        app.get('/page', handler)
      }),
    ),
    warned(
      'the handler of a route with a ttl sets a cookie on each response',
      'CATTLEGRID_NEVER_STORED',
      /^The responses of \/page are not stored, although the route has a ttl: they set a cookie\..*unsafeStripSetCookie/,
      async () => {
        const used = cache()
        const app = makeApp()
        app.get('/page', expressCache(used)({ ttl: '1m' }), (_req, res) => void res.cookie('seen', '1').send('page'))
        const server = app.listen(0)
        for (const _ of [1, 2, 3, 4]) await request(server).get('/page').expect(200)
        await new Promise((resolve) => server.close(resolve))
        await used.close()
      },
    ),
    warned(
      'a tag is made of a missing parameter',
      'CATTLEGRID_MISSING_IN_NAME',
      /^The name 'product:undefined' is made of a missing value.*Look at the spelling/,
      async () => {
        const used = cache()
        const tags = (): readonly string[] => [`product:${String(undefined)}`]
        const app = makeApp()
        app.get('/page', expressCache(used)({ ttl: '1m', tags }), (_req, res) => void res.send('page'))
        const server = app.listen(0)
        for (const _ of [1, 2]) await request(server).get('/page').expect(200)
        await new Promise((resolve) => server.close(resolve))
        await used.close()
      },
    ),
    answer('tags returns a promise', /^cached\.tags returned a promise.*await in a middleware/, {
      tags: () => Promise.resolve(['a']),
    }),
    answer('key.extra returns a promise', /^cached\.key\.extra returned a promise, so its request bypasses/, {
      key: { extra: () => Promise.resolve('tenant') },
    }),
    answer('key.extra throws', /^cached\.key\.extra threw TypeError, so its request bypasses.*It must return a text/, {
      key: { extra: ({ user }: { user?: { tenant: string } }) => (user as { tenant: string }).tenant },
    }),
    answer('ttl returns a text without a unit', /^cached\.ttl returned a text, so no response is stored.*'30s'/, {
      ttl: () => '30',
    }),
    answer(
      'skip returns a promise',
      /^cached\.skip returned a promise, so its request bypasses.*true or false, and now/,
      {
        skip: () => Promise.resolve(false),
      },
    ),
    answer('enabled returns a promise', /^cached\.enabled returned a promise, so its request bypasses/, {
      enabled: () => Promise.reject(new Error('no answer')),
    }),
    warned(
      'only createCache has a ttl',
      'CATTLEGRID_UNUSED_TTL',
      /^The response of \/page declares no freshness, and the ttl of createCache does not count.*Give the route a ttl/,
      play(({ app, cached, handler }) => void app.get('/page', cached(), handler)),
    ),
    warned(
      'no ttl is given anywhere',
      'CATTLEGRID_NO_TTL',
      /^The response of \/page declares no freshness, and its route has no ttl: it is not stored\. Give the route a ttl/,
      play(({ app, handler }) => {
        app.get('/page', expressCache(createCache())({ staleWhileRevalidate: '5m' }), handler)
      }),
    ),
    warned(
      'cached() stands behind the handler of its route',
      'CATTLEGRID_BEHIND_HANDLER',
      /^cached\(\) of \/page stands behind the handler that answers, so nothing is cached: put it before, app\.get\(/,
      play(({ app, cached, handler }) => void app.get('/page', handler, cached({ ttl: '1m' }))),
    ),
    warned(
      'app.use(cached()) stands behind all routes',
      'CATTLEGRID_BEHIND_HANDLER',
      /^app\.use\(cached\(\)\) stands behind all routes.*put it before the routes/,
      play(({ app, cached, handler }) => {
        app.get('/page', handler)
        app.use(cached({ ttl: '1m' }))
        app.use((error: unknown, _req: unknown, _res: unknown, next: (error: unknown) => void) => next(error))
      }),
    ),
    warned(
      'app.use gets cached without its call',
      'CATTLEGRID_NOT_CALLED',
      /^cached was given to Express itself.*nothing is cached there\. Call it: app\.use\(cached\(\)\)/,
      play(({ app, cached, handler }) => {
        app.use(cached)
        app.get('/page', handler)
      }),
    ),
    warned(
      'a route gets cached without its call',
      'CATTLEGRID_NOT_CALLED',
      /^cached was given to Express itself.*app\.get\(path, cached\(\{ ttl \}\), handler\)/,
      play(({ app, cached, handler }) => void app.get('/page', cached, handler)),
    ),
    warned(
      'one middleware stands twice at one mount point',
      'CATTLEGRID_USED_TWICE',
      /^One middleware of cached\(\) is used twice.*Call cached\(\) for each/,
      play(({ app, cached, handler }) => {
        const middleware = cached({ ttl: '1m' })
        app.use(middleware)
        app.use(middleware)
        app.use('/page', handler)
      }),
    ),
    warned(
      'cached({ ttl }) stands on a route of POST',
      'CATTLEGRID_UNCACHED_METHOD',
      /^cached\(\{ ttl \}\) stands on POST \/page, whose responses are never cached.*cache\.invalidateTags\(\)/,
      play(({ app, cached, handler }) => void app.post('/page', cached({ ttl: '1m' }), handler), true),
    ),
  ]
}

describeMisuses('cached() of Express 5, at requests', atRequests(express))
describeMisuses('cached() of Express 4, at requests', atRequests(express4))

test('a cached() that others stand before, and that is reached, is not told', async () => {
  const told = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  await page(express, ({ app, cached, handler }) => {
    app.get('/page', (_req, _res, next) => next(), cached({ ttl: 'origin' }))
    app.post('/page', cached({ invalidateOnUnsafe: true }), handler)
    app.use(cached({ ttl: 'origin' }))
    app.use(handler)
  })()
  expect(told.mock.calls).toEqual([])
  told.mockRestore()
})
