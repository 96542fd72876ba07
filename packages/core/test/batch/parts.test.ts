import { describe, expect, it } from '@jest/globals'
import { createFleet, rejection } from '../support/fleet.ts'

const all = (keys: readonly string[]): Map<string, string> => new Map(keys.map((key) => [key, key]))

describe('getOrSetMany of more than 2,000 keys', () => {
  const many = Array.from({ length: 4001 }, (_, index) => `k${index}`)

  it('loads one part after the other, so that no lease waits for the acquires of all keys', async () => {
    const [cache] = createFleet().caches
    const asked: number[] = []
    const values = await cache.getOrSetMany(many, (keys) => {
      asked.push(keys.length)
      return all(keys)
    })
    expect(values).toEqual(all(many))
    expect(asked).toEqual([2000, 2000, 1])
    expect(await cache.get('k4000')).toBe('k4000')
  })

  it('ends with the part of the first error', async () => {
    const [cache] = createFleet().caches
    const asked: number[] = []
    const call = cache.getOrSetMany(many, ({ length }) => {
      asked.push(length)
      throw new Error('down')
    })
    expect(await rejection(call)).toMatchObject({ message: 'down' })
    expect(asked).toEqual([2000])
  })

  it('is one wait of the loader that awaits it: a cycle through its last part is refused', async () => {
    const [cache] = createFleet().caches
    const call = cache.getOrSet('a', async () => {
      const values = await cache.getOrSetMany(many, async (keys) => {
        if (keys.includes('k4000')) await cache.getOrSet('a', () => 'never')
        return all(keys)
      })
      return values.size
    })
    expect(await rejection(call)).toMatchObject({ code: 'CATTLEGRID_REENTRANT' })
  })
})
