import { runInNewContext } from 'node:vm'
import { beforeEach, describe, expect, it, jest } from '@jest/globals'
import { type Cache, createCache, type Loader, memoryStore, type Store } from '@cattlegrid/core'
import { createManualRuntime, type ManualRuntime } from '@cattlegrid/testkit'

let runtime: ManualRuntime
let store: Store
let cache: Cache
let elsewhere: Cache

beforeEach(() => {
  runtime = createManualRuntime()
  store = memoryStore({ runtime })
  const open = (): Cache => createCache({ store, runtime, ttl: '1m' })
  cache = open()
  elsewhere = open()
})

/** What a call rejects with; whatever it is, also undefined. */
async function thrownBy(call: Promise<unknown>): Promise<readonly [unknown]> {
  try {
    await call
  } catch (error) {
    return [error]
  }
  throw new Error('The call was answered')
}

/** What is no promise, but has a then. */
function withThen(then: () => unknown): object {
  return new Proxy({}, { get: (_, name) => (name === 'then' ? then() : undefined) })
}

describe('a loader', () => {
  it.each([undefined, null, 0, '', false, Number.NaN])(
    'may return %p, which is a value like any other',
    async (value) => {
      const loader = jest.fn(() => value)
      expect(await cache.getOrSet('k', loader)).toBe(value)
      expect(await cache.getOrSet('k', loader)).toBe(value)
      expect(loader).toHaveBeenCalledTimes(1)
      expect(await cache.read('k')).toEqual({ value, state: 'fresh', age: 0, freshFor: 60_000 })
      expect(await elsewhere.lookup('k', loader)).toMatchObject({ value, status: 'fresh' })
    },
  )

  it('may return or promise its value, or what only has a then', async () => {
    const thenable = withThen(() => (resolve: (value: string) => void) => resolve('thenable'))
    expect(await cache.getOrSet('a', () => 'plain')).toBe('plain')
    expect(await cache.getOrSet('b', async () => 'promised')).toBe('promised')
    expect(await cache.getOrSet('c', () => thenable as never)).toBe('thenable')
    expect(await cache.get('c')).toBe('thenable')
  })

  it('is told whether its load holds the lease, so that its result can be stored', async () => {
    const told: boolean[] = []
    const load: Loader<string> = (running) => {
      told.push(running.leased)
      running.uncacheable()
      return 'value'
    }
    await cache.lookup('k', load)
    await cache.lookup('k', load)
    expect(told).toEqual([true, false])
  })

  it('is called with its load alone, and with no this', async () => {
    const calls: unknown[] = []
    const loader = function (this: unknown, ...args: readonly unknown[]): string {
      calls.push(this, args.length)
      return 'value'
    }
    await cache.getOrSet('k', loader)
    expect(calls).toEqual([undefined, 1])
  })
})

describe('a loader that fails', () => {
  const frozen = Object.freeze({ reason: 'frozen' })
  it.each([undefined, null, 0, 'text', Symbol('reason'), frozen, new TypeError('typed')])(
    'with %p fails its callers with that very thing, and the key cools down',
    async (reason) => {
      const throwing = (): never => {
        throw reason
      }
      expect(await thrownBy(cache.getOrSet('now', throwing))).toEqual([reason])
      expect(await thrownBy(cache.getOrSet('later', () => Promise.reject(reason)))).toEqual([reason])
      await runtime.advance(0)
      const name = reason instanceof Error ? 'TypeError' : typeof reason
      for (const key of ['now', 'later']) {
        const [error] = await thrownBy(elsewhere.getOrSet(key, () => 'not asked'))
        expect(error).toMatchObject({ code: 'CATTLEGRID_LOAD_FAILED', attempts: 1, cause: { name } })
      }
    },
  )

  it('reports to other processes the name and the code of its error, and not its message', async () => {
    const error = Object.assign(new RangeError('SELECT * FROM users'), { code: 'ECONNREFUSED' })
    await thrownBy(cache.getOrSet('k', () => Promise.reject(error)))
    const [told] = await thrownBy(elsewhere.getOrSet('k', () => 'not asked'))
    expect(told).toMatchObject({ cause: { name: 'RangeError', code: 'ECONNREFUSED' } })
    expect(JSON.stringify([told, String(told)])).not.toContain('SELECT')
  })

  it('reports to other processes the name of an error of another realm', async () => {
    const error: unknown = runInNewContext('new SyntaxError("of another realm")')
    await thrownBy(cache.getOrSet('k', () => Promise.reject(error as Error)))
    const [told] = await thrownBy(elsewhere.getOrSet('k', () => 'not asked'))
    expect(told).toMatchObject({ cause: { name: 'SyntaxError' } })
  })

  it.each([
    ['a name that is a symbol', Object.assign(new Error('odd'), { name: Symbol('odd') as unknown as string })],
    ['a code that is an object', Object.assign(new Error('odd'), { code: { deep: 1 } })],
    [
      'a code that cannot be read',
      Object.defineProperty(new Error('odd'), 'code', {
        get: () => {
          throw new Error('no code')
        },
      }),
    ],
  ])('with an error that has %s hangs no caller and cools down like any other', async (_, error) => {
    expect(await thrownBy(cache.getOrSet('k', () => Promise.reject(error)))).toEqual([error])
    await runtime.advance(0)
    const [told] = await thrownBy(elsewhere.getOrSet('k', () => 'not asked'))
    expect(told).toMatchObject({ code: 'CATTLEGRID_LOAD_FAILED' })
  })

  it('with a then that throws fails like one that throws', async () => {
    const broken = new Error('broken then')
    const thenable = withThen(() => {
      throw broken
    })
    expect(await thrownBy(cache.getOrSet('k', () => thenable as never))).toEqual([broken])
    await runtime.advance(0)
    expect(await store.inspect('k')).toMatchObject({ lease: undefined, cooldown: { attempts: 1 } })
  })
})

describe('a value that is no loader', () => {
  const calls: Record<string, (loader: Loader<unknown>) => Promise<unknown>> = {
    getOrSet: (loader) => cache.getOrSet('k', loader),
    lookup: (loader) => cache.lookup('k', loader),
    refresh: (loader) => cache.refresh('k', loader),
    getOrSetMany: (loader) => cache.getOrSetMany(['k'], loader as never),
    wrap: async (loader) => cache.wrap(loader as () => unknown, { key: () => 'k' }),
  }

  it.each(Object.entries(calls))('is refused by %s by name, and the key does not cool down for it', async (_, call) => {
    for (const value of [undefined, null, 'loaded', 7, {}, Promise.resolve('loaded')]) {
      const [error] = await thrownBy(call(value as never))
      expect(error).toMatchObject({
        code: 'CATTLEGRID_INVALID_OPTION',
        value,
        accepted: expect.stringContaining('function'),
      })
    }
    const nothing = { kind: 'found', entry: undefined, lease: undefined, cooldown: undefined }
    expect(await store.inspect('k')).toEqual(nothing)
  })

  it('is refused on a hit too', async () => {
    await cache.set('k', 'kept')
    const [error] = await thrownBy(cache.getOrSet('k', 'no loader' as never))
    expect(error).toMatchObject({ code: 'CATTLEGRID_INVALID_OPTION', option: 'loader' })
  })
})

describe('a loader of many keys', () => {
  it.each([undefined, null, { k: 'value' }, [['k', 'value']], 'value'])(
    'that answers %p instead of a Map is told so',
    async (answer) => {
      const [error] = await thrownBy(cache.getOrSetMany(['k'], () => answer as never))
      expect(error).toHaveProperty('message', expect.stringContaining('Map'))
    },
  )
})

describe('a key function of a wrapped function', () => {
  it('that throws rejects the call, and never throws', async () => {
    const error = new Error('no key')
    const load = cache.wrap(() => 'value', {
      key: () => {
        throw error
      },
    })
    expect(await thrownBy(load())).toEqual([error])
  })

  it('gets the arguments of the call, and the function its this', async () => {
    const seen: unknown[] = []
    const shop = {
      name: 'shop',
      find: cache.wrap(
        function (this: { readonly name: string }, id: number, locale: string) {
          return `${this.name} ${id} ${locale}`
        },
        {
          key: (...args) => {
            seen.push(args)
            return args.join(':')
          },
        },
      ),
    }
    expect(await shop.find(7, 'de')).toBe('shop 7 de')
    expect(seen).toEqual([[7, 'de']])
    expect(await cache.get('7:de')).toBe('shop 7 de')
  })
})
