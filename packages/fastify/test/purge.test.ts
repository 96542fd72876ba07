import { createCache } from '@cattlegrid/core'
import { expect, test } from '@jest/globals'
import Fastify from 'fastify'
import cattlegrid from '../src/index.ts'

test('an app purges by tag and by URL where it says who may', async () => {
  const cache = createCache()
  const app = Fastify()
  let runs = 0
  await app.register(cattlegrid, { cache, close: false })
  app.post('/purge', app.cattlegrid.purge({ authorize: ({ headers }) => headers['x-purger'] === 'yes' }))
  app.post('/off', app.cattlegrid.purge())
  app.get('/tag', { config: { cache: { ttl: '1h', tags: ['a'] } } }, async () => `run ${++runs}`)
  app.get('/url', async (_request, reply) => reply.header('cache-control', 'max-age=60').send(`run ${++runs}`))
  const get = async (url: string): Promise<string> =>
    (await app.inject({ url, headers: { host: 'shop.example' } })).body
  const purge = async (url: string, headers = {}): Promise<number> =>
    (await app.inject({ method: 'POST', url, headers })).statusCode
  try {
    expect([await get('/tag'), await get('/url')]).toEqual(['run 1', 'run 2'])
    expect([await purge('/off?tag=a'), await purge('/purge?tag=a')]).toEqual([404, 403])
    expect([await get('/tag'), await get('/url')]).toEqual(['run 1', 'run 2'])
    const url = encodeURIComponent('http://shop.example/url')
    expect(await purge(`/purge?tag=a&url=${url}`, { 'x-purger': 'yes' })).toBe(204)
    expect([await get('/tag'), await get('/url')]).toEqual(['run 3', 'run 4'])
  } finally {
    await app.close()
    await cache.close()
  }
})
