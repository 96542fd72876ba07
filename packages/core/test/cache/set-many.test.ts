import { describe, expect, it } from '@jest/globals'
import { createFleet, record } from '../support/fleet.ts'
import { memoryCache } from '../support/memory-cache.ts'
import { Remote } from '../support/remote.ts'

describe('setMany', () => {
  it('writes every value with the options, and voids the running leases', async () => {
    const { caches } = createFleet()
    const values = new Map([
      ['a', 1],
      ['b', 2],
    ])
    const loading = caches[0].getOrSet('a', async () => {
      await caches[1].setMany(values, { ttl: '5s', tags: ['t'] })
      return 'old'
    })
    await loading
    expect(await caches[2].getMany(['a', 'b'])).toEqual(values)
    expect(await caches[2].inspect('b')).toMatchObject({ freshFor: 5000, tags: ['t'] })
  })

  it('sends every value in the same turn', async () => {
    const remote = new Remote()
    remote.delays.put = 10
    void remote.join().setMany(new Map(['a', 'b', 'c'].map((key) => [key, key])))
    await Promise.resolve()
    expect(remote.count('put')).toBe(3)
  })

  it('rejects like set while the store is away, after it has tried every key', async () => {
    const remote = new Remote()
    const cache = remote.join()
    remote.refuses = new Error('gone')
    await expect(cache.setMany(new Map(['a', 'b'].map((key) => [key, key])))).rejects.toMatchObject({
      code: 'CATTLEGRID_STORE_AWAY',
    })
    expect(remote.count('put')).toBe(2)
  })

  it('writes nothing when one of its arguments is wrong', async () => {
    const { cache } = memoryCache()
    const seen = record(cache, 'invalidate')
    const wrong: readonly [unknown, object, string | RegExp][] = [
      [{ a: 1 }, {}, /'setMany\.values' is .*; accepted: a Map of keys and values/],
      [[['a', 1]], {}, 'setMany.values'],
      [
        new Map<unknown, unknown>([
          ['a', 1],
          [7, 2],
        ]),
        {},
        'key',
      ],
      [
        new Map<string, unknown>([
          ['a', 1],
          ['b', Promise.resolve(2)],
        ]),
        {},
        'await a promise first',
      ],
      [new Map([['a', 1]]), { tll: '5s' }, 'setMany.tll'],
    ]
    for (const [values, options, says] of wrong)
      await expect(cache.setMany(values as Map<string, unknown>, options)).rejects.toThrow(says)
    expect(seen).toEqual([])
  })
})
