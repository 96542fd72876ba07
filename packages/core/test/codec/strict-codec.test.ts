import { beforeEach, describe, expect, it, jest } from '@jest/globals'
import { type CacheOptions, type Codec, createCache, json, raw, structured } from '@cattlegrid/core'
import { createManualRuntime } from '@cattlegrid/testkit'
import { never } from '../support/memory-cache.ts'
import { Remote } from '../support/remote.ts'

const emitWarning = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
beforeEach(() => void emitWarning.mockClear())

const open = (options: CacheOptions = {}) => createCache({ runtime: createManualRuntime(), ttl: '1m', ...options })

class Row {
  readonly id = 1
}
class User extends Row {
  name(): string {
    return 'user'
  }
}
const shared = { at: 1 }

function circular(): object {
  const value: Record<string, unknown> = {}
  value['self'] = value
  return value
}
class Roles extends Map<string, number> {}
class Refused extends Error {}

describe('json', () => {
  it.each([
    ['undefined', undefined],
    ['a member that is undefined', { a: undefined }],
    ['plain data', { text: 'a', list: [1, null, true, { deep: [] }], twice: [shared, shared] }],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 })],
    ['an object of a class without methods', { row: new Row() }],
  ])('keeps %s', (_, value) => {
    expect(json.lossOf?.(value)).toBeUndefined()
  })

  it.each([
    ['a Map', { roles: new Map() }, 'value.roles (Map)'],
    ['a Set', [new Set()], 'value[0] (Set)'],
    ['a Date', { a: { at: new Date(0) } }, 'value.a.at (Date)'],
    ['bytes', Buffer.from('a'), 'value (Buffer)'],
    ['NaN', { price: NaN }, 'value.price (NaN)'],
    ['Infinity', [1, Infinity], 'value[1] (Infinity)'],
    ['a bigint', { id: 1n }, 'value.id (bigint)'],
    ['a function', { call: never }, 'value.call (function)'],
    ['a symbol', Symbol('s'), 'value (symbol)'],
    ['an undefined in an array', [undefined], 'value[0] (undefined)'],
    ['an object with methods of a class', { user: new User() }, 'value.user (User)'],
    ['a Response', new Response('body'), 'value (Response)'],
    ['an error', { error: new Error('e') }, 'value.error (Error)'],
    ['-0', { change: -0 }, 'value.change (-0)'],
    ['a member whose name is a symbol', { [Symbol('s')]: 1 }, 'value[Symbol(s)] (a symbol)'],
    ['an inherited toJSON', { price: Object.create({ toJSON: () => 1 }) as object }, 'value.price (Object)'],
    ['a cycle', circular(), 'value.self (a cycle)'],
  ])('changes %s', (_, value, loss) => {
    expect(json.lossOf?.(value)).toBe(loss)
  })

  it('looks at the first 2,000 parts on the first 100 levels, so that it ends on great depth and on great length', () => {
    const inside = (levels: number): unknown => {
      let value: unknown = new Map()
      for (let level = 0; level < levels; level += 1) value = [value]
      return value
    }
    const long = Array.from({ length: 1_000_000 }, () => 0)
    expect([inside(101), inside(100_000), long].map((value) => json.lossOf?.(value))).toEqual(Array(3).fill(undefined))
    expect(json.lossOf?.(inside(100))).toContain('[0][0] (Map)')
  })
})

describe('structured', () => {
  it('keeps what JSON changes', () => {
    const value = {
      map: new Map([[1, new Set([new Date(0)])]]),
      bytes: Buffer.from('a'),
      numbers: [NaN, 1n, undefined],
    }
    const text: unknown = Object('text')
    expect(structured.lossOf?.({ ...value, pattern: /a/, error: new TypeError('e'), text, zero: -0 })).toBeUndefined()
    expect(structured.lossOf?.(circular())).toBeUndefined()
  })

  it.each([
    ['a function', { call: never }, 'value.call (function)'],
    ['an object with methods of a class', new User(), 'value (User)'],
    ['one inside a Map', new Map([['k', new User()]]), 'value[1] (User)'],
    ['one inside a Set', { users: new Set([new User()]) }, 'value.users[0] (User)'],
    ['a Map of a class of its own', { roles: new Roles() }, 'value.roles (Roles)'],
    ['an array of a class of its own', new (class Rows extends Array<number> {})(), 'value (Rows)'],
    ['an error of a class of its own', new Refused('no'), 'value (Refused)'],
    ['an error with a name of its own', Object.assign(new Error('no'), { name: 'Refused' }), 'value (Error)'],
    ['a member of an error', Object.assign(new Error('no'), { code: 7 }), 'value.code (a member of a Error)'],
    ['a member of a Map', { roles: Object.assign(new Map(), { at: 1 }) }, 'value.roles.at (a member of a Map)'],
    ['a member whose name is a symbol', [{ [Symbol('s')]: 1 }], 'value[0][Symbol(s)] (a symbol)'],
    ['an inherited toJSON', Object.create({ toJSON: () => 1 }), 'value (Object)'],
  ])('changes %s', (_, value, loss) => {
    expect(structured.lossOf?.(value)).toBe(loss)
  })
})

describe('raw', () => {
  it('keeps bytes alone', () => {
    const lossOf = (value: unknown): unknown => raw.lossOf?.(value as Uint8Array)
    expect([lossOf(new Uint8Array()), lossOf(Buffer.of()), lossOf('text')]).toEqual([
      undefined,
      undefined,
      'value (string)',
    ])
  })
})

describe('a value that its codec would change', () => {
  const roles = () => ({ roles: new Set(['reader']) })

  it.each([
    ['a memory store', () => open()],
    ['a shared store', () => new Remote().join()],
  ])('gives one warning a cache, with the key and the cure, with %s', async (_, make) => {
    const cache = make()
    expect(await cache.getOrSet('user:7', roles)).toEqual(roles())
    await cache.set('user:8', roles())
    expect(emitWarning.mock.calls).toEqual([
      [
        "The codec json does not keep the value of 'user:7': value.roles (Set). Use `codec: structured`, which keeps Date, Map, Set, BigInt and bytes, or store plain data.",
        { type: 'CattlegridWarning', code: 'CATTLEGRID_LOSSY_CODEC' },
      ],
    ])
  })

  it('gives the warning to listeners of the event instead, also of a set', async () => {
    const cache = open()
    const warnings: string[] = []
    cache.on('warning', ({ message }) => void warnings.push(message))
    await cache.set('user:7', roles())
    expect(warnings).toEqual([expect.stringContaining("'user:7': value.roles (Set)")])
    expect(emitWarning).not.toHaveBeenCalled()
  })

  it('rejects a set with strictCodec, and writes nothing', async () => {
    const cache = open({ strictCodec: true })
    await cache.set('k', 'old')
    await expect(cache.set('k', roles())).rejects.toMatchObject({ code: 'CATTLEGRID_LOSSY_CODEC' })
    expect(await cache.get('k')).toBe('old')
    expect(emitWarning).not.toHaveBeenCalled()
  })

  it('fails its load with strictCodec: all callers get the error, every time', async () => {
    const runtime = createManualRuntime()
    const cache = open({ strictCodec: true, runtime, failureCooldown: { min: 1, max: 1 } })
    for (let call = 0; call < 2; call += 1) {
      const calls = await Promise.allSettled([1, 2].map(() => cache.getOrSet('user:7', roles)))
      expect(calls.map((result) => result.status === 'rejected' && (result.reason as Error).message)).toEqual([
        expect.stringContaining("The codec json does not keep the value of 'user:7': value.roles (Set)."),
        expect.stringContaining("'user:7'"),
      ])
      await runtime.advance(1)
    }
    expect(await cache.getOrSet('user:7', () => ({ roles: ['reader'] }))).toEqual({ roles: ['reader'] })
  })

  it('fails the load of a batch with strictCodec', async () => {
    const cache = open({ strictCodec: true })
    const many = cache.getOrSetMany(['user:7'], () => new Map([['user:7', roles()]]))
    await expect(many).rejects.toMatchObject({ code: 'CATTLEGRID_LOSSY_CODEC' })
  })

  it('is judged by the codec of the call, and not at all by one that does not say what it keeps', async () => {
    const cache = open({ strictCodec: true })
    await cache.set('k', roles(), { codec: structured })
    const codec: Codec = { id: 16, encode: () => Buffer.of(), decode: () => undefined }
    await open({ strictCodec: true, codec }).set('k', roles())
    await expect(cache.set('k', never, { codec: structured })).rejects.toThrow(
      "The codec structured does not keep the value of 'k': value (function). Store data without functions",
    )
    const picky: Codec = { ...codec, lossOf: () => 'value.secret (string)' }
    await expect(open({ strictCodec: true, codec: picky }).set('k', 'text')).rejects.toThrow(
      "The codec with id 16 does not keep the value of 'k': value.secret (string). Store what it keeps, or use another codec.",
    )
  })

  it('is not looked for at a hit', async () => {
    const lossOf = jest.fn(() => undefined)
    const codec: Codec = {
      id: 17,
      encode: (value) => json.encode(value),
      decode: (bytes) => json.decode(bytes),
      lossOf,
    }
    const remote = new Remote()
    remote.encodes = true
    const cache = remote.join({ codec })
    await cache.getOrSet('k', () => 'value')
    for (let hit = 0; hit < 3; hit += 1) await cache.getOrSet('k', never)
    expect(lossOf).toHaveBeenCalledTimes(1)
  })

  it('of a loader that throws when it is looked at is left to its encoding', async () => {
    const value = {
      get broken(): never {
        throw new Error('broken')
      },
    }
    expect(await open({ strictCodec: true }).getOrSet('k', () => value)).toBe(value)
  })
})
