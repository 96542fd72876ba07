import { expect, test } from '@jest/globals'
import { createCache } from '@cattlegrid/core'
import Fastify from 'fastify'

test('a route declared before the plugin, in an app made before the plugin was loaded, fails at its first request', async () => {
  const app = Fastify()
  app.get('/early', { config: { cache: { ttl: '10s' } } }, async () => 'one')
  app.get('/plain', async () => 'one')
  const cache = createCache()
  const { default: cattlegrid } = await import('../src/index.ts')
  await app.register(cattlegrid, { cache, close: false })
  expect((await app.inject('/plain')).statusCode).toBe(200)
  const failed = await app.inject('/early')
  expect(failed.statusCode).toBe(500)
  expect(failed.json()).toMatchObject({ code: 'CATTLEGRID_ROUTE_BEFORE_PLUGIN' })
  await app.close()
  await cache.close()
})
