import { expect, it, jest } from '@jest/globals'
import { createCache } from '@cattlegrid/core'
import { until } from '../../../../test/support/until.ts'
import { redisStore } from '../../src/index.ts'

it('a url at which no server answers gives one warning, without the password, and calls work', async () => {
  const emitWarning = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  const cache = createCache({ store: redisStore({ url: 'redis://user:secret@127.0.0.1:1' }), ttl: '1m' })
  expect(await cache.getOrSet('k', () => 'value')).toBe('value')
  await expect(cache.ready({ timeout: '300ms' })).rejects.toMatchObject({ code: 'CATTLEGRID_STORE_AWAY' })
  await cache.close()
  const told = emitWarning.mock.calls.map(([message]) => String(message))
  expect(told.filter((message) => message.includes('cannot be reached'))).toHaveLength(1)
  expect(told.join(' ')).not.toContain('secret')
})

it('a client that failed long before a cache was made of its store is told of by that cache', async () => {
  const emitWarning = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  emitWarning.mockClear()
  const store = redisStore({ url: 'redis://127.0.0.1:1' })
  await store.starting
  // The client tries again, and its failure is told once.
  await until(async () => (await store.ping()).kind === 'away' && store.starting === undefined)
  const told: string[] = []
  const cache = createCache({ store, ttl: '1m' })
  cache.on('warning', ({ message }) => told.push(message))
  await until(() => told.length > 0)
  expect(told).toEqual([expect.stringContaining('127.0.0.1:1 cannot be reached')])
  await cache.close()
})
