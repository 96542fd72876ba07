import { describe, expect, it } from '@jest/globals'
import { createCache, memoryStore, type Store } from '@cattlegrid/core'

const broken = new Error('not written with care')

/** A store that others share, in which one step goes wrong in a way that no store's should. */
function storeWith(wrong: Partial<Store>): Store {
  return Object.assign(memoryStore(), { shared: true, peek: () => undefined }, wrong)
}

describe('a store', () => {
  it.each<[string, Partial<Store>]>([
    ['whose read rejects', { read: () => Promise.reject(broken) }],
    [
      'whose read throws',
      {
        read: () => {
          throw broken
        },
      },
    ],
    ['that rejects the question for a tag’s number', { tagNumbers: () => Promise.reject(broken) }],
  ])('%s is away: its callers load', async (_, wrong) => {
    const cache = createCache({ store: storeWith(wrong), ttl: '1m' })
    const causes: unknown[] = []
    cache.on('away', ({ error }) => causes.push(error))
    await cache.set('k', 'kept', { tags: ['t'] })
    expect(await cache.getOrSet('k', () => 'loaded')).toBe('loaded')
    expect(causes).toContain(broken)
    await cache.close()
  })
})
