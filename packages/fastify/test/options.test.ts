import { describe, expect, test } from '@jest/globals'
import { type Cache, createCache } from '@cattlegrid/core'
import Fastify from 'fastify'
import cattlegrid, { type CattlegridOptions } from '../src/index.ts'
import { optionsTable } from './options-table.ts'

async function register(options: Readonly<Record<string, unknown>>): Promise<void> {
  const app = Fastify()
  await app.register(cattlegrid, options as unknown as CattlegridOptions)
  await app.close()
}

const cases = Object.entries(optionsTable['CattlegridOptions'] ?? {}).flatMap(([name, values]) =>
  (values as unknown[]).map((value) => [name, value] as const),
)

describe('the cache of a route', () => {
  test.each((optionsTable['RouteCacheOptions']?.['cache'] ?? []) as unknown[])(
    '%p is refused by name',
    async (value) => {
      const cache = createCache()
      const app = Fastify()
      await app.register(cattlegrid, { cache })
      const config = { cache: { ttl: '1m', cache: value as Cache } } as const
      expect(() => app.get('/', { config }, async () => 'text')).toThrow("Option 'config.cache.cache'")
      await app.close()
    },
  )

  test('stores its responses, and only those', async () => {
    const [cache, second] = [createCache(), createCache()]
    const app = Fastify()
    await app.register(cattlegrid, { cache })
    let runs = 0
    app.get('/second', { config: { cache: { ttl: '1m', cache: second } } }, async () => ({ run: (runs += 1) }))
    app.get('/first', { config: { cache: { ttl: '1m' } } }, async () => ({ run: (runs += 1) }))
    const bodies = async (): Promise<readonly string[]> => [
      (await app.inject('/first')).body,
      (await app.inject('/second')).body,
    ]
    expect(await bodies()).toEqual(await bodies())
    await second.clear()
    expect(await bodies()).toEqual(['{"run":1}', '{"run":3}'])
    await app.close()
    await second.set('open', 1, { ttl: '1m' })
    await second.close()
  })
})

describe('options of the plugin', () => {
  test.each(cases)('%s: %p is refused by name', async (name, value) => {
    const cache = createCache()
    await expect(register({ cache, [name]: value })).rejects.toMatchObject({
      code: 'CATTLEGRID_INVALID_OPTION',
      option: expect.stringContaining(`cattlegrid.${name}`),
    })
    await cache.close()
  })

  test('undefined means not given', async () => {
    const cache = createCache()
    await register({ cache, defaults: undefined })
    await expect(register({ cache: undefined })).rejects.toMatchObject({ option: 'cattlegrid.cache' })
    await cache.close()
  })

  test('an unknown name is refused with the nearest one', async () => {
    const cache = createCache()
    await expect(register({ cache, default: {} })).rejects.toThrow("did you mean 'defaults'?")
    await cache.close()
  })
})
