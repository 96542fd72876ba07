import { type Cache, createCache, memoryStore } from '@cattlegrid/core'
import { createManualRuntime } from '@cattlegrid/testkit'
import { beforeAll, describe, expect, jest, test } from '@jest/globals'
import Fastify, { type FastifyInstance, type RouteHandlerMethod } from 'fastify'
import cattlegrid from '../src/index.ts'
import { counter, listen, lock, rest } from './support/cached-app.ts'

let otherCopy: typeof cattlegrid

beforeAll(async () => {
  await jest.isolateModulesAsync(async () => {
    otherCopy = (await import('../src/index.ts')).default
  })
})

/** An app with one page, cached by this copy of the plugin. */
async function appWith(copy: typeof cattlegrid, cache: Cache, handler: RouteHandlerMethod): Promise<FastifyInstance> {
  const app = Fastify({ forceCloseConnections: true })
  await app.register(copy, { cache, close: false, defaults: { key: { host: false } } })
  app.get('/page', { config: { cache: { ttl: '1h' } } }, handler)
  return app
}

describe('two copies of the plugin, as its two builds are', () => {
  test('are two', () => {
    expect(otherCopy).not.toBe(cattlegrid)
  })

  test('serve plugins beside each other in one app', async () => {
    const app = Fastify()
    const { next } = counter()
    for (const [path, copy] of [
      ['/one', cattlegrid],
      ['/other', otherCopy],
    ] as const)
      await app.register(async (child) => {
        await child.register(copy, { cache: createCache() })
        child.get(path, { config: { cache: { ttl: '1h' } } }, () => next())
      })
    try {
      const bodies = []
      for (const path of ['/one', '/other', '/one', '/other']) bodies.push((await app.inject(path)).body)
      expect(bodies).toEqual(['run 1', 'run 2', 'run 1', 'run 2'])
    } finally {
      await app.close()
    }
  })

  test('do not take what a leader of the other one keeps to itself for a response', async () => {
    const cache = createCache()
    const { next } = counter()
    const { opened, open } = lock()
    const handler: RouteHandlerMethod = async (_request, reply) => {
      await opened
      return await reply.header('cache-control', 'private').send(next())
    }
    const apps = [await appWith(cattlegrid, cache, handler), await appWith(otherCopy, cache, handler)]
    const joined = new Promise<void>((resolve) => void cache.on('join', () => resolve()))
    try {
      const asked = apps.map((app) => app.inject('/page'))
      // A request that is injected begins when its answer is asked for.
      const answers = Promise.all(asked)
      await joined
      open()
      expect((await answers).map(({ statusCode, body }) => [statusCode, body])).toEqual([
        [200, 'run 1'],
        [200, 'run 2'],
      ])
    } finally {
      for (const app of apps) await app.close()
      await cache.close()
    }
  })

  test('end a loop in which a handler of one asks for its own page at an app of the other', async () => {
    const cache = createCache()
    const other = await appWith(otherCopy, cache, async () => 'the other app')
    const port = await listen(other)
    const one = await appWith(cattlegrid, cache, async ({ headers }) => {
      const loop = String(headers['cdn-loop'])
      return await (await fetch(`http://127.0.0.1:${port}/page`, { headers: { 'cdn-loop': loop } })).text()
    })
    try {
      expect((await one.inject('/page')).body).toBe('the other app')
    } finally {
      await one.close()
      await other.close()
      await cache.close()
    }
  })

  test.each([
    ['one cache', 1],
    ['a cache each', 2],
  ])(
    'around one route, with %s, record each their own payload before the hooks of the app, and refresh it',
    async (_which, count) => {
      const runtime = createManualRuntime()
      const caches = Array.from({ length: count }, () => createCache({ runtime, store: memoryStore({ runtime }) }))
      const [outer, inner] = [caches[0], caches.at(-1)] as [Cache, Cache]
      const app = Fastify()
      const { next } = counter()
      app.addHook(
        'onSend',
        async (request, _reply, payload) => `${String(payload)} for ${String(request.headers['x-user'])}`,
      )
      // Its keys differ from those of the outer one: a refresh that the outer one took for its own would be rejected.
      await app.register(cattlegrid, { cache: inner, close: false, defaults: { key: { host: false } } })
      await app.register(async (child) => {
        await child.register(otherCopy, { cache: outer, close: false })
        child.get('/page', { config: { cache: { ttl: '10s', staleWhileRevalidate: '1h' } } }, async () => next())
      })
      const seen: string[] = []
      const warned = jest.spyOn(process, 'emitWarning')
      try {
        for (const user of ['ada', 'bob', 'eve', 'kim', 'lou']) {
          seen.push((await app.inject({ url: '/page', headers: { 'x-user': user } })).body)
          await rest()
          if (user !== 'ada') await runtime.advance(11_000)
        }
        expect(seen).toEqual(['run 1 for ada', 'run 1 for bob', 'run 1 for eve', 'run 2 for kim', 'run 3 for lou'])
        expect(warned).not.toHaveBeenCalled()
      } finally {
        warned.mockRestore()
        await app.close()
      }
    },
  )
})
