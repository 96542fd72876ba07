import { beforeAll, describe, expect, it, jest } from '@jest/globals'
import { createCache } from '@cattlegrid/core'
import { createManualRuntime } from '@cattlegrid/testkit'
import { rejection } from '../support/fleet.ts'
import { Remote } from '../support/remote.ts'

let otherCreateCache: typeof createCache

beforeAll(async () => {
  await jest.isolateModulesAsync(async () => {
    ;({ createCache: otherCreateCache } = await import('@cattlegrid/core'))
  })
})

describe('two copies of the package, as its two builds are', () => {
  it('are two', () => {
    expect(otherCreateCache).not.toBe(createCache)
  })

  it('reject when loads of their caches would wait for each other', async () => {
    const runtime = createManualRuntime()
    const one = createCache({ runtime, ttl: '1m' })
    const other = otherCreateCache({ runtime, ttl: '1m' })
    const pause = (): Promise<void> => new Promise((resolve) => void runtime.schedule(resolve, 10))
    const calls = [
      one.getOrSet('a', async () => {
        await pause()
        return await other.getOrSet('b', () => 'never')
      }),
      other.getOrSet('b', async () => {
        await pause()
        return await one.getOrSet('a', () => 'never')
      }),
    ].map(rejection)
    await runtime.advance(10)
    expect(await Promise.race([...calls, runtime.advance(1000).then(() => 'waits')])).toMatchObject({
      code: 'CATTLEGRID_REENTRANT',
      message: expect.stringContaining('b → a → b'),
    })
  })

  it('close a store that their caches share only with the last of them', async () => {
    const remote = new Remote()
    const store = remote.view()
    const close = jest.spyOn(store, 'close')
    const options = { store, runtime: remote.runtime, ttl: '1m' } as const
    const caches = [createCache(options), otherCreateCache(options)]
    await caches[0]?.close()
    expect(close).not.toHaveBeenCalled()
    await caches[1]?.close()
    expect(close).toHaveBeenCalledTimes(1)
  })
})
