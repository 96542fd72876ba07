import { createCache } from '@cattlegrid/core'
import { expect, test } from '@jest/globals'
import Fastify, { type FastifyInstance } from 'fastify'
import cattlegrid from '../src/index.ts'
import { counter } from './support/cached-app.ts'

test('two apps of a process that share a cache count the variants of a URL together, also where one of them has a view of it', async () => {
  const cache = createCache()
  const { next } = counter()
  const appWith = async (own: typeof cache): Promise<FastifyInstance> => {
    const app = Fastify()
    await app.register(cattlegrid, { cache: own, close: false })
    app.get('/a', { config: { cache: { ttl: '1h', maxVariants: 2 } } }, async (_request, reply) => {
      reply.header('vary', 'accept-language')
      return next()
    })
    return app
  }
  const [one, other] = [await appWith(cache), await appWith(cache.with({ ttl: '1m' }))]
  const ask = async (app: FastifyInstance, language: string): Promise<string> =>
    (await app.inject({ url: '/a', headers: { 'accept-language': language } })).body
  try {
    expect([await ask(one, 'de'), await ask(one, 'en'), await ask(other, 'de')]).toEqual(['run 1', 'run 2', 'run 1'])
    expect(await ask(other, 'fr')).toBe('run 3')
    expect(await ask(one, 'de')).toBe('run 4')
  } finally {
    await Promise.all([one.close(), other.close()])
    await cache.close()
  }
})
