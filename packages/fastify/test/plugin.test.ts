import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, expect, test } from '@jest/globals'
import { createCache, isCattlegridError } from '@cattlegrid/core'
import Fastify, { type FastifyRequest } from 'fastify'
import cattlegrid, { cached, type CattlegridOptions } from '../src/index.ts'
import { cache, counter, withApp } from './support/cached-app.ts'

describe('the plugin', () => {
  test('hands the cache to the app, and closes it with the app', async () => {
    const own = createCache()
    const app = Fastify()
    await app.register(cattlegrid, { cache: own, prefix: '/any', logLevel: 'warn' })
    expect(app.cattlegrid.cache).toBe(own)
    await app.close()
    await expect(own.getOrSet('a', () => 1, { ttl: 1000 })).rejects.toMatchObject({ code: 'CATTLEGRID_CLOSED' })
  })

  test('lets the loads that run when the app closes end inside its drain', async () => {
    const own = createCache({ ttl: '10s', staleWhileRevalidate: '10s' })
    const app = Fastify()
    await app.register(cattlegrid, { cache: own, close: { drain: '20s' } })
    let letGo = (): void => {}
    const call = own.lookup('k', async () => {
      await new Promise<void>((resolve) => (letGo = resolve))
      return 'loaded'
    })
    await new Promise(setImmediate)
    const closing = app.close()
    await new Promise(setImmediate)
    letGo()
    expect(await call).toMatchObject({ value: 'loaded', outcome: { kind: 'committed' } })
    await closing
  })

  test('takes the options that cached() has checked', async () => {
    const app = Fastify()
    await app.register(cattlegrid, { cache: createCache() })
    const tags = ({ params }: FastifyRequest<{ Params: { id: string } }>) => [`item:${params.id}`]
    let runs = 0
    app.get('/:id', { config: { cache: cached({ ttl: '1m', tags }) } }, async () => ({ run: (runs += 1) }))
    await app.inject('/7')
    expect((await app.inject('/7')).body).toBe('{"run":1}')
    await app.cattlegrid.cache.invalidateTags(['item:7'])
    expect((await app.inject('/7')).body).toBe('{"run":2}')
    await app.close()
  })

  test('leaves a cache open that it is told not to close', async () => {
    const own = createCache()
    const app = Fastify()
    await app.register(cattlegrid, { cache: own, close: false })
    await app.close()
    expect(await own.getOrSet('a', () => 1, { ttl: 1000 })).toBe(1)
    await own.close()
  })

  test('caches a route without config.cache only as its answers declare', async () => {
    await withApp(async ({ app, bodies }) => {
      const silent = counter()
      const outspoken = counter()
      app.get('/silent', async () => silent.next())
      app.get('/outspoken', async (_request, reply) => {
        reply.header('cache-control', 'max-age=60')
        return outspoken.next()
      })
      expect(await bodies('/silent', 2)).toEqual(['run 1', 'run 2'])
      expect(await bodies('/outspoken', 2)).toEqual(['run 1', 'run 1'])
    })
  })

  test('config.cache: false keeps the cache away from a route', async () => {
    await withApp(async ({ app, bodies }) => {
      const origin = counter()
      app.get('/off', { config: { cache: false } }, async (_request, reply) => {
        reply.header('cache-control', 'max-age=60')
        return origin.next()
      })
      expect(await bodies('/off', 2)).toEqual(['run 1', 'run 2'])
    })
  })

  test('a default ttl counts for routes that ask for the cache, and for no other', async () => {
    const own = createCache()
    const app = Fastify()
    await app.register(cattlegrid, { cache: own, close: false, defaults: { ttl: '10s', cacheStatus: 'Edge' } })
    app.get('/asks', { config: { cache: {} } }, async () => 'one')
    app.get('/silent', async () => 'one')
    for (const url of ['/asks', '/silent']) await app.inject(url)
    expect((await app.inject('/asks')).headers['cache-status']).toMatch(/^Edge; hit/)
    expect((await app.inject('/silent')).headers['cache-status']).toMatch(/^Edge; fwd=uri-miss/)
    await app.close()
    await own.close()
  })

  test('a ttl that is a function sees Fastify’s own request and reply', async () => {
    await withApp(async ({ app, bodies, runtime }) => {
      const origin = counter()
      app.get('/ttl/:seconds', {
        config: {
          cache: {
            ttl: (request, reply) =>
              reply.statusCode === 200 ? `${Number((request.params as { seconds: string }).seconds)}s` : 0,
          },
        },
        handler: async () => origin.next(),
      })
      await bodies('/ttl/5', 1)
      await runtime.advance(4000)
      expect(await bodies('/ttl/5', 1)).toEqual(['run 1'])
      await runtime.advance(1001)
      expect(await bodies('/ttl/5', 1)).toEqual(['run 2'])
    })
  })

  test('a route under a prefix and a root route of that prefix are cached each under its whole path', async () => {
    await withApp(async ({ app, bodies }) => {
      await app.register(
        async (child) => {
          child.get('/', { config: { cache } }, async ({ url }) => url)
          child.get('/item', { config: { cache } }, async ({ url }) => url)
        },
        { prefix: '/one' },
      )
      await app.register(async (child) => void child.get('/item', { config: { cache } }, async ({ url }) => url), {
        prefix: '/two',
      })
      for (const url of ['/one', '/one/', '/one/item', '/two/item']) expect(await bodies(url, 2)).toEqual([url, url])
    })
  })

  test('registered in a child, it caches the child’s routes and no other', async () => {
    const own = createCache()
    const app = Fastify()
    const inside = counter()
    const outside = counter()
    await app.register(async (child) => {
      await child.register(cattlegrid, { cache: own, close: false })
      child.get('/inside', { config: { cache: { ttl: '10s' } } }, async () => inside.next())
    })
    app.get('/outside', async (_request, reply) => {
      reply.header('cache-control', 'max-age=60')
      return outside.next()
    })
    for (const url of ['/inside', '/inside', '/outside', '/outside']) await app.inject(url)
    expect([inside.runs, outside.runs]).toEqual([1, 2])
    expect('cattlegrid' in app).toBe(false)
    await app.close()
    await own.close()
  })

  test('routes of one URL that differ by a constraint are two entries, refreshed each by its own', async () => {
    await withApp(async ({ app, runtime, cache: own }) => {
      for (const version of ['1.0.0', '2.0.0']) {
        const origin = counter()
        app.get('/versions', {
          constraints: { version },
          config: { cache: { ttl: '10s', staleWhileRevalidate: '1m' } },
          handler: async () => `${version} ${origin.next()}`,
        })
      }
      const ask = async (version: string) =>
        (await app.inject({ url: '/versions', headers: { 'accept-version': version } })).body
      expect([await ask('1.0.0'), await ask('2.0.0'), await ask('1.0.0')]).toEqual([
        '1.0.0 run 1',
        '2.0.0 run 1',
        '1.0.0 run 1',
      ])
      await runtime.advance(11_000)
      const refreshed = new Promise<void>((resolve) => {
        own.on('commit', () => {
          resolve()
        })
      })
      expect(await ask('2.0.0')).toBe('2.0.0 run 1')
      await refreshed
      expect(await ask('2.0.0')).toBe('2.0.0 run 2')
    })
  })

  test('a refresh does not run in the async context of the client that caused it', async () => {
    const tenants = new AsyncLocalStorage<string>()
    const seen: (string | undefined)[] = []
    await withApp(async ({ app, runtime, cache: own }) => {
      app.get('/tenant', { config: { cache: { ttl: '10s', staleWhileRevalidate: '1m' } } }, async () => {
        seen.push(tenants.getStore())
        return 'one'
      })
      await tenants.run('ada', async () => await app.inject('/tenant'))
      await runtime.advance(11_000)
      const refreshed = new Promise<void>((resolve) => {
        own.on('commit', () => {
          resolve()
        })
      })
      await tenants.run('bob', async () => await app.inject('/tenant'))
      await refreshed
      expect(seen).toEqual(['ada', undefined])
    })
  })

  test('without a cache, or with an option that nobody knows, it is refused by name', async () => {
    for (const [options, option] of [
      [{}, 'cattlegrid.cache'],
      [{ cache: {} }, 'cattlegrid.cache'],
      [{ cache: createCache(), ttl: '1s' }, 'cattlegrid.ttl'],
      [{ cache: createCache(), defaults: { ttl: 'soon' } }, 'cattlegrid.defaults.ttl'],
    ] as const) {
      const app = Fastify()
      const registered = app.register(cattlegrid, options as unknown as CattlegridOptions).ready()
      await expect(registered).rejects.toMatchObject({ code: 'CATTLEGRID_INVALID_OPTION', option })
    }
  })
})

describe('a route that was declared before the plugin was registered', () => {
  const config = { cache: { ttl: '10s' } } as const

  test('stops the app from starting when it asks for the cache', async () => {
    const app = Fastify()
    app.get('/early', { config }, async () => 'one')
    app.get('/plain', async () => 'one')
    app.get('/off', { config: { cache: false } }, async () => 'one')
    const own = createCache()
    app.register(cattlegrid, { cache: own, close: false })
    const failure = {
      code: 'CATTLEGRID_ROUTE_BEFORE_PLUGIN',
      message: expect.stringMatching(/: GET \/early, HEAD \/early\. Await .*, or declare them in a plugin /),
    }
    const error = await Promise.resolve(app.ready()).catch((reason: unknown) => reason)
    expect(error).toMatchObject(failure)
    expect(isCattlegridError(error)).toBe(true)
    await own.close()
  })

  test('is found in a child plugin as well', async () => {
    const app = Fastify()
    await app.register(async (child) => void child.get('/early', { config }, async () => 'one'), { prefix: '/child' })
    const own = createCache()
    app.register(cattlegrid, { cache: own, close: false })
    await expect(app.ready()).rejects.toMatchObject({ message: expect.stringContaining('GET /child/early') })
    await own.close()
  })

  test('is cached without an await where it is in a plugin that is registered after it, as the error says', async () => {
    const app = Fastify()
    app.register(cattlegrid, { cache: createCache(), defaults: { cacheStatus: true } })
    app.register(async (child) => void child.get('/late', { config }, async () => 'one'))
    await app.inject('/late')
    expect((await app.inject('/late')).headers['cache-status']).toMatch(/; hit/)
    await app.close()
  })

  test('does not trouble an app that never registers the plugin', async () => {
    const app = Fastify()
    app.get('/early', { config }, async () => 'one')
    await app.ready()
    expect((await app.inject('/early')).body).toBe('one')
    await app.close()
  })
})
