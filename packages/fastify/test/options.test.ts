import { describe, expect, test } from '@jest/globals'
import { createCache } from '@cattlegrid/core'
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
