import { createCache } from '@cattlegrid/core'
import { expect, jest, test } from '@jest/globals'
import Fastify from 'fastify'
import cattlegrid from '../src/index.ts'
import { counter } from './cached-app.ts'

test('two copies of the plugin, as its two builds are, serve plugins beside each other in one app', async () => {
  let otherCopy = cattlegrid
  await jest.isolateModulesAsync(async () => {
    otherCopy = (await import('../src/index.ts')).default
  })
  expect(otherCopy).not.toBe(cattlegrid)
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

test('two copies of the plugin around one route record each their own payload, before the hooks of the app', async () => {
  let otherCopy = cattlegrid
  await jest.isolateModulesAsync(async () => {
    otherCopy = (await import('../src/index.ts')).default
  })
  const app = Fastify()
  const { next } = counter()
  app.addHook(
    'onSend',
    async (request, _reply, payload) => `${String(payload)} for ${String(request.headers['x-user'])}`,
  )
  const caches = [createCache(), createCache()]
  const [outer, inner] = caches as [(typeof caches)[0], (typeof caches)[0]]
  await app.register(cattlegrid, { cache: inner })
  await app.register(async (child) => {
    await child.register(otherCopy, { cache: outer })
    child.get('/page', { config: { cache: { ttl: '1h' } } }, async () => next())
  })
  const ask = async (user: string): Promise<string> =>
    (await app.inject({ url: '/page', headers: { 'x-user': user } })).body
  try {
    expect([await ask('ada'), await ask('bob')]).toEqual(['run 1 for ada', 'run 1 for bob'])
    await outer.clear()
    expect(await ask('eve')).toBe('run 1 for eve')
    await inner.clear()
    expect(await ask('kim')).toBe('run 1 for kim')
  } finally {
    await app.close()
  }
})
