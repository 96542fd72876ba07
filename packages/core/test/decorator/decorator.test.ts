import { beforeEach, describe, expect, it, jest } from '@jest/globals'
import { type Cache, createCache, type InvalidOptionError } from '@cattlegrid/core'
import { cachedMethod } from '@cattlegrid/core/decorator'
import { createManualRuntime, type ManualRuntime } from '@cattlegrid/testkit'

let runtime: ManualRuntime
let cache: Cache

beforeEach(() => {
  runtime = createManualRuntime()
  cache = createCache({ runtime, ttl: '1m' })
})

const byId = (id: number): string => `product:${id}`

describe('@cachedMethod', () => {
  it('answers a method from the cache', async () => {
    class Products {
      loads = 0
      @cachedMethod({ cache, key: byId })
      async find(id: number): Promise<string> {
        this.loads += 1
        return `product ${id}`
      }
    }
    const products = new Products()
    const calls = await Promise.all([products.find(7), products.find(7), products.find(8)])
    expect(calls).toEqual(['product 7', 'product 7', 'product 8'])
    expect(products.loads).toBe(2)
    expect(await cache.get('product:7')).toBe('product 7')
  })

  it('obeys the options of a call', async () => {
    class Products {
      @cachedMethod({ cache, key: byId, ttl: '7s' })
      async find(id: number): Promise<number> {
        return id
      }
    }
    await new Products().find(7)
    expect(await cache.read('product:7')).toMatchObject({ freshFor: 7000 })
  })

  it('runs the method on the instance it was called on, private fields included', async () => {
    class Products {
      readonly #prefix: string
      constructor(prefix: string) {
        this.#prefix = prefix
      }
      @cachedMethod({ cache, key: (id: number, shop: string) => `${shop}:${id}` })
      async find(id: number, shop: string): Promise<string> {
        return `${this.#prefix} ${shop} ${id}`
      }
    }
    expect(await new Products('one').find(7, 'a')).toBe('one a 7')
    expect(await new Products('two').find(7, 'b')).toBe('two b 7')
    // Another instance asks for the same key: it is the same value.
    expect(await new Products('three').find(7, 'a')).toBe('one a 7')
  })

  it('finds the cache on the instance', async () => {
    class Products {
      readonly #name: string
      readonly own: Cache
      constructor(name: string, own: Cache) {
        this.#name = name
        this.own = own
      }
      @cachedMethod({ cache: (self: Products) => self.own, key: byId })
      async find(_id: number): Promise<string> {
        return this.#name
      }
    }
    const other = createCache({ runtime, ttl: '1m' })
    expect(await new Products('one', cache).find(7)).toBe('one')
    expect(await new Products('two', other).find(7)).toBe('two')
    expect(await new Products('three', cache).find(7)).toBe('one')
  })

  it('checks its options once for each cache, and not at each call', async () => {
    const wrap = jest.spyOn(cache, 'wrap')
    class Products {
      @cachedMethod({ cache: () => cache, key: byId })
      async find(id: number): Promise<number> {
        return id
      }
    }
    for (const id of [7, 8, 9]) await new Products().find(id)
    expect(wrap).toHaveBeenCalledTimes(1)
  })

  it('keeps name and number of parameters', () => {
    class Products {
      @cachedMethod({ cache, key: (id: number, shop: string) => `${shop}:${id}` })
      async find(id: number, shop: string): Promise<string> {
        return `${shop} ${id}`
      }
    }
    const { find } = Products.prototype
    expect([find.name, find.length]).toEqual(['find', 2])
    expect(Object.keys(Products.prototype)).toEqual([])
  })

  it('serves static methods, methods named by a symbol and private methods', async () => {
    const find = Symbol('find')
    class Products {
      static shop = 'the shop'
      @cachedMethod({ cache, key: () => 'static' })
      static async open(): Promise<string> {
        return this.shop
      }
      @cachedMethod({ cache, key: () => 'symbol' })
      async [find](): Promise<string> {
        return 'by symbol'
      }
      @cachedMethod({ cache, key: () => 'private' })
      async #secret(): Promise<string> {
        return 'in private'
      }
      async tell(): Promise<string> {
        return await this.#secret()
      }
    }
    const products = new Products()
    expect(await Promise.all([Products.open(), products[find](), products.tell()])).toEqual([
      'the shop',
      'by symbol',
      'in private',
    ])
  })

  it('is inherited, and a method that overrides it is not cached', async () => {
    class Products {
      @cachedMethod({ cache, key: byId })
      async find(id: number): Promise<string> {
        return `product ${id}`
      }
    }
    class Inherited extends Products {}
    class Overriding extends Products {
      override async find(id: number): Promise<string> {
        return `my ${await super.find(id)}`
      }
    }
    expect(await new Inherited().find(7)).toBe('product 7')
    expect(await new Overriding().find(7)).toBe('my product 7')
    expect(await cache.get('product:7')).toBe('product 7')
  })

  it('rejects with what the method throws, of whatever kind', async () => {
    const error = new Error('out of stock')
    class Products {
      @cachedMethod({ cache, key: byId })
      find(_id: number): Promise<string> {
        throw error
      }
    }
    await expect(new Products().find(7)).rejects.toBe(error)
  })
})

/** As a compiler of the older proposal calls a decorator: with the prototype, the name and the descriptor, which it then defines again. */
function decorateLegacy(target: object, name: string, decorator: unknown): void {
  const descriptor = Object.getOwnPropertyDescriptor(target, name)
  const decorate = decorator as (...args: unknown[]) => PropertyDescriptor | undefined
  const changed = decorate(target, name, descriptor) ?? descriptor
  if (changed !== undefined) Object.defineProperty(target, name, changed)
}

describe('@cachedMethod of the older proposal', () => {
  class Products {
    readonly #name = 'the shop'
    loads = 0
    get shop(): string {
      return this.#name
    }
    async find(id: number): Promise<string> {
      this.loads += 1
      return `${this.#name} ${id}`
    }
  }

  it('answers a method from the cache, with its this, its name and its number of parameters', async () => {
    class Decorated extends Products {
      override async find(id: number): Promise<string> {
        return await super.find(id)
      }
    }
    decorateLegacy(Decorated.prototype, 'find', cachedMethod({ cache, key: byId }))
    const products = new Decorated()
    expect(await Promise.all([products.find(7), products.find(7)])).toEqual(['the shop 7', 'the shop 7'])
    expect(products.loads).toBe(1)
    expect([products.find.name, products.find.length]).toEqual(['find', 1])
    expect(Object.getOwnPropertyDescriptor(Decorated.prototype, 'find')).toMatchObject({
      enumerable: false,
      writable: true,
    })
  })

  it.each(['shop', 'field'])('is refused on what is no method: %s', (name) => {
    const decorate = (): void => decorateLegacy(Products.prototype, name, cachedMethod({ cache, key: byId }))
    expect(decorate).toThrow(
      expect.objectContaining({ code: 'CATTLEGRID_INVALID_OPTION', option: expect.stringContaining(name) }),
    )
  })
})

describe('an invalid @cachedMethod', () => {
  it.each(['getter', 'field', 'accessor', 'class'])('is refused on a %s when the class is defined', (kind) => {
    const decorate = cachedMethod({ cache, key: byId }) as unknown as (value: unknown, context: object) => unknown
    const define = (): unknown => decorate(() => 7, { kind, name: 'shop' })
    expect(define).toThrow(expect.objectContaining({ code: 'CATTLEGRID_INVALID_OPTION', value: kind }))
  })

  it('is refused when the class is defined, not when the method is called', () => {
    const define = (): unknown => {
      class Products {
        @cachedMethod({ cache, key: byId, ttl: -1 })
        async find(id: number): Promise<number> {
          return id
        }
      }
      return Products
    }
    expect(define).toThrow("Option 'cachedMethod.ttl' is -1")
  })

  it.each([
    ['finds none', () => undefined],
    ['finds something else', () => 'cache'],
    [
      'throws',
      () => {
        throw new Error('no container')
      },
    ],
  ])('whose cache function %s rejects, and never throws', async (_, find) => {
    class Products {
      @cachedMethod({ cache: find as unknown as () => Cache, key: byId })
      async find(id: number): Promise<number> {
        return id
      }
    }
    const call = new Products().find(7)
    await expect(call).rejects.toThrow(/cachedMethod\.cache|no container/)
  })

  it('without a ttl rejects, and says where to give it', async () => {
    class Products {
      @cachedMethod({ cache: () => createCache({ runtime }), key: byId })
      async find(id: number): Promise<number> {
        return id
      }
    }
    const error: unknown = await new Products().find(7).catch((thrown: unknown) => thrown)
    expect((error as InvalidOptionError).message).toContain("Option 'ttl' is undefined; accepted: a duration")
  })
})
