import { AsyncLocalStorage } from 'node:async_hooks'
import { expect, test } from '@jest/globals'
import { systemRuntime } from '@cattlegrid/core/extend'
import { redisStore } from '@cattlegrid/redis'
import { until } from '../../../../test/support/until.ts'

test('a store that a request creates connects outside the async context of that request', async () => {
  const requests = new AsyncLocalStorage<string>()
  const seen: unknown[] = []
  // Read for the delay before each attempt to connect again.
  const random = (): number => {
    seen.push(requests.getStore())
    return 0
  }
  const url = 'redis://127.0.0.1:1'
  const store = requests.run('a request', () => redisStore({ url, runtime: { ...systemRuntime, random } }))
  await until(() => seen.length >= 4)
  await store.close()
  requests.disable()
  expect([...new Set(seen)]).toEqual([undefined])
})
