import { describe, expect, it } from '@jest/globals'
import type { ManyLoad } from '@cattlegrid/core'
import { createFleet, Origin, rejection, settle } from './fleet.ts'

/** A source of many keys that remembers what it was asked for. */
function source(suffix = ''): {
  readonly asked: (readonly string[])[]
  readonly loader: (keys: readonly string[]) => Map<string, string>
} {
  const asked: (readonly string[])[] = []
  const loader = (keys: readonly string[]): Map<string, string> => {
    asked.push(keys)
    return new Map(keys.map((key) => [key, key + suffix]))
  }
  return { asked, loader }
}

describe('getOrSetMany', () => {
  it('asks the loader once for what is missing, and only for that', async () => {
    const [cache] = createFleet().caches
    await cache.set('b', 'kept')
    const { asked, loader } = source()
    expect(await cache.getOrSetMany(['a', 'b', 'c', 'a'], loader)).toEqual(
      new Map([
        ['a', 'a'],
        ['b', 'kept'],
        ['c', 'c'],
      ]),
    )
    expect(asked).toEqual([['a', 'c']])
    expect(await cache.getMany(['a', 'c', 'd'])).toEqual(
      new Map([
        ['a', 'a'],
        ['c', 'c'],
      ]),
    )
  })

  it('waits for the keys that are led elsewhere, without holding its own loader up', async () => {
    const fleet = createFleet()
    const [cache, other] = fleet.caches
    const origin = new Origin()
    void other.getOrSet('b', origin.loader)
    await settle(fleet)
    const { asked, loader } = source()
    const call = cache.getOrSetMany(['a', 'b'], loader)
    await settle(fleet)
    expect(asked).toEqual([['a']])
    origin.last.resolve('from elsewhere')
    await settle(fleet)
    expect(await call).toEqual(
      new Map([
        ['a', 'a'],
        ['b', 'from elsewhere'],
      ]),
    )
  })

  it('asks for a key in a call of its own when its leader elsewhere failed to deliver', async () => {
    const fleet = createFleet({ isFailure: () => false })
    const [cache, other] = fleet.caches
    const origin = new Origin()
    const elsewhere = rejection(other.getOrSet('b', origin.loader))
    await settle(fleet)
    const { asked, loader } = source()
    const call = cache.getOrSetMany(['a', 'b'], loader)
    await settle(fleet)
    origin.last.reject(new Error('not mine'))
    await elsewhere
    await settle(fleet)
    expect(await call).toEqual(
      new Map([
        ['a', 'a'],
        ['b', 'b'],
      ]),
    )
    expect(asked).toEqual([['a'], ['b']])
  })

  it('leaves out what the loader did not bring, and stores nothing for it', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    let answer = (): void => {}
    const partial = cache.getOrSetMany(
      ['a', 'gone'],
      () => new Promise<Map<string, unknown>>((resolve) => (answer = () => resolve(new Map([['a', 1]])))),
    )
    await settle(fleet)
    const joined = cache.getOrSet('gone', () => 'asked for alone')
    await settle(fleet)
    answer()
    expect(await partial).toEqual(new Map([['a', 1]]))
    expect(await joined).toBe('asked for alone')
  })

  it('keeps undefined and null apart from what is missing', async () => {
    const [cache] = createFleet().caches
    const values = new Map<string, unknown>([
      ['a', undefined],
      ['b', null],
    ])
    expect(await cache.getOrSetMany(['a', 'b'], () => values)).toEqual(values)
    expect(await cache.getMany(['a', 'b', 'c'])).toEqual(values)
  })

  it('lets the loader decide for each key', async () => {
    const [cache] = createFleet().caches
    const loader = (keys: readonly string[], load: ManyLoad): Map<string, string> => {
      load.keep('a', { ttl: '1s' })
      load.uncacheable('b')
      return new Map(keys.map((key) => [key, key]))
    }
    await cache.getOrSetMany(['a', 'b', 'c'], loader)
    expect(await cache.read('a')).toMatchObject({ freshFor: 1000 })
    expect(await cache.read('b')).toBeUndefined()
    expect(await cache.read('c')).toMatchObject({ freshFor: 10_000 })
  })

  it('rejects with the error of its loader, and takes one turn for all its keys', async () => {
    const fleet = createFleet({ maxLoads: 1 })
    const [cache] = fleet.caches
    await expect(cache.getOrSetMany(['a', 'b'], () => Promise.reject(new Error('down')))).rejects.toThrow('down')
    await cache.delete('a')
    await cache.delete('b')
    const { asked, loader } = source()
    await cache.getOrSetMany(['a', 'b'], loader)
    expect(asked).toEqual([['a', 'b']])
  })

  it('is refused when its loader asks for one of its own keys', async () => {
    const [cache] = createFleet().caches
    const call = cache.getOrSetMany(['a', 'b'], () => cache.getOrSet('b', () => new Map()))
    await expect(call).rejects.toMatchObject({ code: 'CATTLEGRID_REENTRANT' })
  })

  it('refuses what is no list of keys', async () => {
    const [cache] = createFleet().caches
    for (const keys of ['a', undefined, null, [1], [undefined]]) {
      expect(await rejection(cache.getOrSetMany(keys as never, () => new Map()))).toMatchObject({
        code: 'CATTLEGRID_INVALID_KEY',
      })
    }
  })
})
