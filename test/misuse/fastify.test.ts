import { type Cache, createCache, memoryStore } from '@cattlegrid/core'
import { cached, cattlegrid } from '@cattlegrid/fastify'
import { expect } from '@jest/globals'
import Fastify, { type FastifyInstance } from 'fastify'
import { describeMisuses, refused, warned } from './misuse.ts'

const cache = (): Cache => createCache({ ttl: '1m' })

/** Makes an app, declares what is wrong in it, and asks it three times: each client gets an answer of its own. */
function app(declare: (app: FastifyInstance) => unknown): () => Promise<void> {
  return async () => {
    const made = Fastify()
    try {
      await declare(made)
      await made.ready()
      for (const run of [1, 2, 3]) expect((await made.inject('/page')).body).toBe(`run ${run}`)
    } finally {
      await made.close()
    }
  }
}

function nextRun(): () => Promise<string> {
  let runs = 0
  return async () => `run ${++runs}`
}

/** As `app`, with the plugin. */
function pluggedIn(declare: (app: FastifyInstance, handler: () => Promise<string>) => unknown): () => Promise<void> {
  return app(async (made) => {
    await made.register(cattlegrid, { cache: cache() })
    await declare(made, nextRun())
  })
}

describeMisuses('the plugin of Fastify', [
  refused(
    'it gets the cache alone',
    /'cattlegrid' is a cache, .*\(did you mean \{ cache \}\?\)/,
    // @ts-expect-error the types refuse it
    app((made) => made.register(cattlegrid, cache())),
  ),
  refused(
    'it gets no cache',
    /'cattlegrid\.cache' is undefined; accepted: a cache made by createCache\(\)/,
    // @ts-expect-error the types refuse it
    app((made) => made.register(cattlegrid)),
  ),
  refused(
    'it gets a store',
    /'cattlegrid\.cache' is a store, .*accepted: a cache made by createCache\(\)/,
    // @ts-expect-error the types refuse it
    app((made) => made.register(cattlegrid, { cache: memoryStore() })),
  ),
  refused(
    'it gets the ttl of all routes',
    /ttl' is unknown \(did you mean defaults: \{ ttl \}\?\)/,
    // @ts-expect-error the types refuse it
    app((made) => made.register(cattlegrid, { cache: cache(), ttl: '1m' })),
  ),
  refused(
    'it gets a store beside the cache',
    /store' is unknown \(it belongs to createCache\(\{ store \}\)\)/,
    // @ts-expect-error the types refuse it
    app((made) => made.register(cattlegrid, { cache: cache(), store: memoryStore() })),
  ),
  refused(
    'it gets a cache that an earlier app has closed',
    /'cache' is closed; accepted: a cache that is open: createCache\(\) for each app, or close: false/,
    async () => {
      const used = cache()
      await app((made) =>
        made.register(cattlegrid, { cache: used }).get('/page', { config: { cache: false } }, nextRun()),
      )()
      await app((made) => made.register(cattlegrid, { cache: used }))()
    },
  ),
  refused(
    'it is registered inside another plugin, beside the routes',
    /Declared before .*If you register it inside another plugin, wrap that one in fastify-plugin/,
    app(async (made) => {
      await made.register(async (inner) => {
        await inner.register(cattlegrid, { cache: cache() })
      })
      made.get('/page', { config: { cache: { ttl: '1m' } } }, async () => 'page')
    }),
    'CATTLEGRID_ROUTE_BEFORE_PLUGIN',
  ),
  refused(
    'it is registered twice',
    /is registered twice; accepted: one registration, at the root/,
    app(async (made) => {
      for (const used of [cache(), cache()]) await made.register(cattlegrid, { cache: used })
    }),
  ),
  refused(
    'it is registered behind the routes',
    /Declared before .*not cached: GET \/page.*Await app\.register\(cattlegrid/,
    app(async (made) => {
      made.get('/page', { config: { cache: { ttl: '1m' } } }, async () => 'page')
      await made.register(cattlegrid, { cache: cache() })
    }),
    'CATTLEGRID_ROUTE_BEFORE_PLUGIN',
  ),
])

describeMisuses('a route of Fastify', [
  refused(
    'config.cache is the ttl alone',
    /'config\.cache' is '30s' \(did you mean \{ ttl: '30s' \}\?\)/,
    pluggedIn((made, handler) => made.get('/page', { config: { cache: '30s' } }, handler)),
  ),
  warned(
    'config.cache has a ttl on a POST',
    'CATTLEGRID_UNCACHED_METHOD',
    /^config\.cache has a ttl on POST \/page, whose responses are never cached.*invalidateTags\(\)/,
    pluggedIn((made, handler) => {
      made.post('/page', { config: { cache: { ttl: '1m' } } }, handler)
      made.get('/page', { config: { cache: false } }, handler)
    }),
  ),
  warned(
    'the options stand beside config',
    'CATTLEGRID_MISPLACED_OPTION',
    /^The route GET \/page has the option cache, which Fastify overlooks.*Write config: \{ cache: \{ ttl \} \}/,
    // @ts-expect-error the types refuse it
    pluggedIn((made, handler) => made.get('/page', { cache: { ttl: '1m' } }, handler)),
  ),
  warned(
    'cached() of the package stands in the place of the route’s options',
    'CATTLEGRID_MISPLACED_OPTION',
    /^The route GET \/page has the option ttl, which Fastify overlooks/,
    // @ts-expect-error the types refuse it
    pluggedIn((made, handler) => made.get('/page', cached({ ttl: '1m' }), handler)),
  ),
  warned(
    'the ttl stands in config itself',
    'CATTLEGRID_MISPLACED_OPTION',
    /^The route GET \/page has the option config\.ttl, which Fastify overlooks/,
    pluggedIn((made, handler) => made.get('/page', { config: { ttl: '1m' } }, handler)),
  ),
  warned(
    'config.cache is empty, and only createCache has a ttl',
    'CATTLEGRID_UNUSED_TTL',
    /^The response of \/page declares no freshness.*Give the route a ttl/,
    pluggedIn((made, handler) => made.get('/page', { config: { cache: {} } }, handler)),
  ),
  warned(
    'tags returns a promise',
    'CATTLEGRID_OPTION_ANSWER',
    /^config\.cache\.tags returned a promise, so no response is stored/,
    pluggedIn((made, handler) =>
      // @ts-expect-error the types refuse it
      made.get('/page', { config: { cache: { ttl: '1m', tags: () => Promise.resolve(['a']) } } }, handler),
    ),
  ),
  refused(
    'cached() of the package is used as a hook',
    /preHandler hook should be a function/,
    // @ts-expect-error the types refuse it
    pluggedIn((made, handler) => made.get('/page', { preHandler: cached({ ttl: '1m' }) }, handler)),
    'FST_ERR_HOOK_INVALID_HANDLER',
  ),
])
