import { describe, expect, it } from '@jest/globals'
import { Remote } from './remote.ts'

const all = (keys: readonly string[]): Map<string, string> => new Map(keys.map((key) => [key, key]))

describe('the loader call of a batch', () => {
  it('has the whole loadTimeout, however long the reads of its keys take', async () => {
    const remote = new Remote()
    const cache = remote.join({ loadTimeout: '300ms', storeTimeout: '5s', outage: false })
    remote.perRead = 100
    const keys = ['a', 'b', 'c', 'd', 'e']
    const asked: (readonly string[])[] = []
    const batch = cache.getOrSetMany(keys, async (missing) => {
      asked.push(missing)
      await new Promise<void>((resolve) => void remote.runtime.schedule(resolve, 200))
      return all(missing)
    })
    await remote.runtime.advance(1000)
    expect(asked).toEqual([keys])
    expect(await batch).toEqual(all(keys))
  })

  it('ends at loadTimeout, which counts from its begin', async () => {
    const remote = new Remote()
    const cache = remote.join({ loadTimeout: '300ms', storeTimeout: '5s', outage: false })
    remote.perRead = 100
    const errors: unknown[] = []
    void cache
      .getOrSetMany(['a', 'b'], () => new Promise<never>(() => undefined))
      .catch((error: unknown) => errors.push(error))
    await remote.runtime.advance(499)
    expect(errors).toEqual([])
    await remote.runtime.advance(1)
    expect(errors).toMatchObject([{ code: 'CATTLEGRID_LOAD_TIMEOUT' }])
  })
})
