import { createCache } from '@cattlegrid/core'
import { expect, test } from '@jest/globals'
import Fastify, { type onRequestHookHandler } from 'fastify'
import cattlegrid from '../src/index.ts'

test('a route that is served in phase onRequest answers strangers from a fresh entry, and turns them away without one', async () => {
  const cache = createCache()
  const app = Fastify()
  await app.register(cattlegrid, { cache, close: false })
  let runs = 0
  const onRequest: onRequestHookHandler = (request, reply, next) => {
    if (request.headers['x-user'] === undefined) void reply.code(401).send('who are you?')
    else next()
  }
  app.get('/early', { onRequest, config: { cache: { ttl: '1h', phase: 'onRequest' } } }, async () => `run ${++runs}`)
  const get = async (headers = {}): Promise<string> => (await app.inject({ url: '/early', headers })).body
  try {
    expect(await get()).toBe('who are you?')
    expect(await get({ 'x-user': 'ada' })).toBe('run 1')
    expect([await get(), await get({ 'x-user': 'ada' })]).toEqual(['run 1', 'run 1'])
    expect((await app.inject({ method: 'HEAD', url: '/early' })).headers['content-length']).toBe('5')
    await cache.clear()
    expect(await get()).toBe('who are you?')
  } finally {
    await app.close()
    await cache.close()
  }
})

test('a route that is served in phase onRequest runs its handler where an earlier hook has sent the head', async () => {
  const cache = createCache()
  const app = Fastify()
  await app.register(cattlegrid, { cache, close: false })
  let begins = false
  app.addHook('onRequest', (_request, reply, done) => {
    if (begins) reply.raw.writeHead(200)
    done()
  })
  app.get('/early', { config: { cache: { ttl: '1h', phase: 'onRequest' } } }, (_request, reply) => {
    if (!begins) return reply.send('stored')
    reply.hijack()
    reply.raw.end('own')
    return reply
  })
  try {
    expect((await app.inject('/early')).body).toBe('stored')
    begins = true
    expect((await app.inject({ url: '/early', signal: AbortSignal.timeout(2000) })).body).toBe('own')
  } finally {
    await app.close()
    await cache.close()
  }
})
