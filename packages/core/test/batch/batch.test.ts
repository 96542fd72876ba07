import { describe, expect, it } from '@jest/globals'
import type { ManyLoad } from '@cattlegrid/core'
import { createFleet, Origin, rejection, settle } from '../support/fleet.ts'

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

const all = (keys: readonly string[]): Map<string, string> => new Map(keys.map((key) => [key, key]))

describe('getOrSetMany', () => {
  it('calls the loader once, with the missing keys only', async () => {
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

  it('waits for keys that another process leads, without delaying its own loader', async () => {
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

  it('calls the loader again for a key whose leader in another process failed', async () => {
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

  it('begins its loader call also when a key loads twice: for its own caller alone, and for those that joined it before', async () => {
    const fleet = createFleet({ isFailure: () => false, maxLoads: 10 })
    const [cache, other] = fleet.caches
    const origin = new Origin()
    const elsewhere = rejection(other.getOrSet('k', origin.loader))
    await settle(fleet)
    const { read } = fleet.store
    let letGo = (): void => {}
    const held = new Promise<void>((resolve) => (letGo = resolve))
    fleet.store.read = async (key, codec) => {
      if (key === 'x') await held
      return await read.call(fleet.store, key, codec)
    }
    const { asked, loader } = source()
    const call = cache.getOrSetMany(['k', 'x'], loader, { waitTimeout: '1s', onWaitTimeout: 'load' })
    await settle(fleet)
    const joined = cache.getOrSet('k', origin.loader)
    await fleet.runtime.advance(1001)
    origin.last.reject(new Error('not mine'))
    await elsewhere
    await settle(fleet)
    letGo()
    await settle(fleet)
    expect(asked).toEqual([['k', 'x']])
    expect(await call).toEqual(all(['k', 'x']))
    expect(await joined).toBe('k')
  })

  it('leaves out a key that the loader did not return, and stores nothing for it', async () => {
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

  it('leaves out a key for all batches that joined before the load, and for no other call', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const answers: (() => void)[] = []
    const loader = (): Promise<Map<string, unknown>> =>
      new Promise((resolve) => answers.push(() => resolve(new Map([['a', 1]]))))
    const batches = [1, 2, 3].map(() => cache.getOrSetMany(['a', 'gone'], loader))
    const alone = cache.getOrSet('gone', () => 'loaded alone')
    await settle(fleet)
    for (const answer of answers) answer()
    await settle(fleet)
    expect(answers).toHaveLength(1)
    expect(await Promise.all(batches)).toEqual([1, 2, 3].map(() => new Map([['a', 1]])))
    expect(await alone).toBe('loaded alone')
  })

  it('asks its own loader for a key that a batch left out of a load which it joined late', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    let answer = (): void => {}
    const first = cache.getOrSetMany(
      ['gone'],
      () => new Promise<Map<string, string>>((resolve) => (answer = () => resolve(new Map()))),
    )
    await settle(fleet)
    const late = cache.getOrSetMany(['gone'], all)
    await settle(fleet)
    answer()
    expect(await first).toEqual(new Map())
    expect(await late).toEqual(all(['gone']))
  })

  it('distinguishes undefined and null from a missing key', async () => {
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
    // Taken out of the load, as other loaders do.
    const loader = (keys: readonly string[], { keep, uncacheable }: ManyLoad): Map<string, string> => {
      keep('a', { ttl: '1s' })
      uncacheable('b')
      return new Map(keys.map((key) => [key, key]))
    }
    await cache.getOrSetMany(['a', 'b', 'c'], loader)
    expect(await cache.read('a')).toMatchObject({ freshFor: 1000 })
    expect(await cache.read('b')).toBeUndefined()
    expect(await cache.read('c')).toMatchObject({ freshFor: 10_000 })
  })

  it('rejects with the error of its loader, and uses one load permit for all its keys', async () => {
    const fleet = createFleet({ maxLoads: 1 })
    const [cache] = fleet.caches
    await expect(cache.getOrSetMany(['a', 'b'], () => Promise.reject(new Error('down')))).rejects.toThrow('down')
    await cache.delete('a')
    await cache.delete('b')
    const { asked, loader } = source()
    await cache.getOrSetMany(['a', 'b'], loader)
    expect(asked).toEqual([['a', 'b']])
  })

  it.each(['a', 'b'])('rejects when its loader asks for its own key %s', async (key) => {
    const [cache] = createFleet().caches
    const call = cache.getOrSetMany(['a', 'b'], () => cache.getOrSet(key, () => new Map()))
    expect(await rejection(call)).toMatchObject({ code: 'CATTLEGRID_REENTRANT' })
  })

  it('rejects keys that are no array', async () => {
    const [cache] = createFleet().caches
    for (const keys of ['a', undefined, null, [1], [undefined]]) {
      expect(await rejection(cache.getOrSetMany(keys as never, () => new Map()))).toMatchObject({
        code: 'CATTLEGRID_INVALID_KEY',
      })
    }
  })

  it('loads missing and stale keys in one loader call', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m' })
    const [cache] = fleet.caches
    await cache.set('a', 'stale')
    await fleet.runtime.advance(10_001)
    const { acquire } = fleet.store
    fleet.store.acquire = async (key, request) => {
      if (key === 'a') await new Promise<void>((resolve) => fleet.runtime.schedule(resolve, 10))
      return acquire.call(fleet.store, key, request)
    }
    const asked: (readonly string[])[] = []
    const call = cache.getOrSetMany(['a', 'b'], (keys) => {
      asked.push(keys.toSorted())
      return all(keys)
    })
    await fleet.runtime.advance(10)
    expect(await call).toEqual(
      new Map([
        ['a', 'stale'],
        ['b', 'b'],
      ]),
    )
    await settle(fleet)
    expect(asked).toEqual([['a', 'b']])
    expect(await cache.get('a')).toBe('a')
  })
})

describe('a batch with a stale key that another call refreshes in the background', () => {
  it('does not wait for that refresh', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m' })
    const [cache] = fleet.caches
    await cache.set('a', 'stale')
    await fleet.runtime.advance(10_001)
    const origin = new Origin()
    await cache.getOrSet('a', origin.loader)
    const batch = cache.getOrSetMany(['a', 'b'], all)
    await settle(fleet)
    expect(await Promise.race([batch, Promise.resolve('waits')])).toEqual(
      new Map([
        ['a', 'stale'],
        ['b', 'b'],
      ]),
    )
    origin.last.resolve('new')
  })
})

describe('the signal of a batch', () => {
  it('aborts when the last of its loads has ended', async () => {
    const fleet = createFleet({ loadTimeout: '2s' })
    const { acquire } = fleet.store
    fleet.store.acquire = async (key, request) => {
      if (key === 'late') await new Promise<void>((resolve) => fleet.runtime.schedule(resolve, 500))
      return acquire.call(fleet.store, key, request)
    }
    const signals: AbortSignal[] = []
    const call = fleet.caches[0].getOrSetMany(['early', 'late'], (_, load: ManyLoad) => {
      signals.push(load.signal)
      return new Promise<Map<string, string>>(() => {})
    })
    const expected = rejection(call)
    await fleet.runtime.advance(2400)
    expect(signals.map(({ aborted }) => aborted)).toEqual([false])
    await fleet.runtime.advance(100)
    expect(signals[0]?.reason).toMatchObject({ code: 'CATTLEGRID_LOAD_TIMEOUT' })
    expect(await expected).toMatchObject({ code: 'CATTLEGRID_LOAD_TIMEOUT' })
  })
})

describe('the load.signal of a batch', () => {
  it('is aborted on its first access when all of its loads were aborted before', async () => {
    const fleet = createFleet({ loadTimeout: '1s' })
    let load: ManyLoad | undefined
    const call = rejection(
      fleet.caches[0].getOrSetMany(['a', 'b'], (_, given) => {
        load = given
        return new Promise<Map<string, string>>(() => {})
      }),
    )
    await fleet.runtime.advance(1000)
    await call
    expect(load?.signal.reason).toMatchObject({ code: 'CATTLEGRID_LOAD_TIMEOUT' })
  })
})
