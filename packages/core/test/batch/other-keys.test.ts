import { describe, expect, it } from '@jest/globals'
import { record } from '../support/fleet.ts'
import { memoryCache } from '../support/memory-cache.ts'

describe('a loader of getOrSetMany whose Map has other keys than it was asked for', () => {
  const byId = (): Map<string, number> => new Map([['7', 7]])

  it('is told once, with the cure, because nothing is ever stored', async () => {
    const { cache } = memoryCache()
    const warnings = record(cache, 'warning')
    for (let call = 0; call < 3; call += 1) expect(await cache.getOrSetMany(['product:7'], byId)).toEqual(new Map())
    expect(warnings).toEqual([['warning', { message: expect.stringContaining('other keys than the loader got') }]])
  })

  it.each([
    ['has more than those', (): Map<string, number> => new Map([...byId(), ['product:7', 7]])],
    ['is empty', (): Map<string, number> => new Map()],
  ])('is not told where the Map %s', async (_, loader) => {
    const { cache } = memoryCache()
    const warnings = record(cache, 'warning')
    await cache.getOrSetMany(['product:7'], loader)
    expect(warnings).toEqual([])
  })
})
