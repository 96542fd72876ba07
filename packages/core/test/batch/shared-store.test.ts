import { describe, expect, it } from '@jest/globals'
import { never } from '../support/memory-cache.ts'
import { Remote } from '../support/remote.ts'

const all = (keys: readonly string[]): Map<string, string> => new Map(keys.map((key) => [key, key]))

describe('a batch on a shared store', () => {
  it('sends nothing for near hits, and gets them in the order of its keys', async () => {
    const remote = new Remote()
    const cache = remote.join({ near: {} })
    const keys = ['a', 'b', 'c']
    await cache.getOrSetMany(keys, all)
    await cache.getOrSetMany(keys, never)
    const before = { ...remote.asked }
    const hits: string[] = []
    cache.on('hit', ({ key }) => hits.push(key))
    expect([...(await cache.getOrSetMany(['c', 'a', 'b'], never))]).toEqual([
      ['c', 'c'],
      ['a', 'a'],
      ['b', 'b'],
    ])
    expect({ ...remote.asked }).toEqual(before)
    expect(hits).toEqual(['c', 'a', 'b'])
    await cache.delete('a')
    await cache.delete('c')
    expect([...(await cache.getOrSetMany(keys, all)).keys()]).toEqual(keys)
  })

  it.each([50, 2000])(
    'reads its %d keys as fast as the store takes them, and loads them with one loader call',
    async (size) => {
      const remote = new Remote()
      const cache = remote.join()
      remote.delays.read = 5
      remote.delays.acquire = 5
      const keys = Array.from({ length: size }, (_, index) => `k${index}`)
      const asked: (readonly string[])[] = []
      const call = cache.getOrSetMany(keys, (missing) => {
        asked.push(missing)
        return all(missing)
      })
      await remote.runtime.advance(0)
      expect(remote.count('read')).toBe(Math.min(size, 32))
      await remote.runtime.advance(100)
      expect((await call).size).toBe(size)
      expect(asked.map(({ length }) => length)).toEqual([size])
    },
  )
})
