import { expect, test } from '@jest/globals'
import { AsyncLocalStorage } from 'node:async_hooks'
import { createManualRuntime } from '@cattlegrid/testkit'
import { Watchdog } from '../../src/link/watchdog.ts'

test('the checks of a connection run outside the async context of any request', async () => {
  const requests = new AsyncLocalStorage<string>()
  const runtime = createManualRuntime()
  const setIn: unknown[] = []
  const schedule: typeof runtime.schedule = (action, delay) => {
    setIn.push(requests.getStore())
    return runtime.schedule(action, delay)
  }
  let bites = 0
  const watchdog = new Watchdog({ ...runtime, schedule }, 200, () => (bites += 1))
  requests.run('the first', () => watchdog.watch(new Promise(() => {})))
  await runtime.advance(1000)
  watchdog.stop()
  requests.disable()
  expect(bites).toBeGreaterThan(0)
  expect([...new Set(setIn)]).toEqual([undefined])
})
