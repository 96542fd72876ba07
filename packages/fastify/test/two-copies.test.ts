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
