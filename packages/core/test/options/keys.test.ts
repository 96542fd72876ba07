import { beforeEach, describe, expect, it, jest } from '@jest/globals'
import { type Cache, createCache, InvalidKeyError, memoryStore, type Store } from '@cattlegrid/core'
import { isDigest, storedKey } from '@cattlegrid/core/extend'
import { createManualRuntime } from '@cattlegrid/testkit'
import * as fc from 'fast-check'

let store: Store
let cache: Cache

beforeEach(() => {
  const runtime = createManualRuntime()
  store = memoryStore({ runtime })
  cache = createCache({ store, runtime, ttl: '1m', staleWhileRevalidate: '1m' })
})

const binary = String.fromCharCode(...Array.from({ length: 256 }, (_, code) => code))
const keys: readonly (readonly [string, string])[] = [
  ['empty', ''],
  ['one blank', ' '],
  ['as long as a key may be', 'k'.repeat(65_536)],
  ['as long in characters of four bytes', '🐄'.repeat(32_768)],
  ['just too long to be kept as it is', 'k'.repeat(1025)],
  ['like that of a long key', `%sha256:${'A'.repeat(43)}:${'k'.repeat(64)}`],
  ['every byte', binary],
  ['nothing but braces', '{}{{}}'],
  ['a whole hash tag', '{shop}:product:{7}'],
  ['half a surrogate pair', '\uD83D'],
  ['what stands for what is no character', '\uFFFD'],
  ['lines', 'line\r\nbreak\0end'],
  ['a property of every object', '__proto__'],
  ['a method of every object', 'constructor'],
  ['é in one character', '\u00E9'],
  ['é in two', 'e\u0301'],
]

describe('a key', () => {
  it.each(keys)('may be %s, in every call', async (_, key) => {
    const loader = jest.fn(({ key: told }: { readonly key: string }) => `of ${told.length}`)
    const value = `of ${key.length}`
    expect(await cache.getOrSet(key, loader)).toBe(value)
    expect(await cache.lookup(key, loader)).toMatchObject({ value, status: 'fresh' })
    expect(await cache.get(key)).toBe(value)
    expect(await cache.getMany([key])).toEqual(new Map([[key, value]]))
    expect(loader).toHaveBeenCalledTimes(1)
    await cache.set(key, 'set')
    expect(await cache.read(key)).toMatchObject({ value: 'set', state: 'fresh' })
    await cache.expire(key)
    expect(await cache.inspect(key)).toMatchObject({ state: 'stale' })
    await cache.delete(key)
    expect(await cache.read(key)).toBeUndefined()
  })

  it('is never taken for another one', async () => {
    for (const [name, key] of keys) await cache.set(key, name)
    for (const [name, key] of keys) expect(await cache.get(key)).toBe(name)
    expect(await cache.clear()).toBe(keys.length)
  })

  it('may be any text', async () => {
    const codeUnit = fc.nat({ max: 0xffff }).map((code) => String.fromCharCode(code))
    const text = fc.string({ unit: codeUnit, maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(text, text, async (one, other) => {
        await cache.set(one, 'one')
        await cache.delete(other)
        expect(await cache.get(one)).toBe(one === other ? undefined : 'one')
      }),
    )
  })
})

describe('a long key', () => {
  it('is stored under its digest, which is short', async () => {
    const put = jest.spyOn(store, 'put')
    await cache.set('k'.repeat(5000), 'long')
    expect(put.mock.calls[0]?.[0].length).toBeLessThan(200)
  })

  it('is found in the store under the key that storedKey returns', async () => {
    const put = jest.spyOn(store, 'put')
    for (const [, key] of keys) await cache.set(key, 'a value')
    expect(put.mock.calls.map(([key]) => key)).toEqual(keys.map(([, key]) => storedKey(key)))
  })

  it('is replaced by a text that isDigest recognizes, and no other key is', () => {
    const digest = storedKey('k'.repeat(1025))
    expect(isDigest(digest)).toBe(true)
    for (const key of ['k'.repeat(1024), '%sha256:short', ` ${digest}`, '']) expect(isDigest(key)).toBe(false)
  })

  it('differs from another in a single character, wherever that stands', async () => {
    const long = 'k'.repeat(5000)
    await cache.set(long, 'one')
    expect(await cache.get(`${long.slice(0, -1)}l`)).toBeUndefined()
    await cache.set(`${long}\uD800`, 'half a pair')
    expect(await cache.get(`${long}\uDC00`)).toBeUndefined()
  })

  it('shares no entry with the key that equals its digest', async () => {
    const put = jest.spyOn(store, 'put')
    await cache.set('k'.repeat(5000), 'long')
    expect(await cache.get(put.mock.calls[0]?.[0] ?? '')).toBeUndefined()
  })

  it('is shown as it is stored in every event, and in errors', async () => {
    const put = jest.spyOn(store, 'put')
    const long = 'k'.repeat(5000)
    const shown = new Set<string>()
    for (const name of ['miss', 'commit', 'hit', 'invalidate', 'away'] as const)
      cache.on(name, ({ key }) => shown.add(key))
    await cache.getOrSet(long, () => 'loaded')
    await cache.getOrSet(long, () => 'loaded')
    await cache.set(long, 'set')
    await cache.delete(long)
    jest.spyOn(store, 'invalidate').mockResolvedValue({ kind: 'away', why: 'error', cause: new Error('reset') })
    const error = await cache.delete(long).catch((thrown: unknown) => thrown)
    const stored = put.mock.calls[0]?.[0] ?? ''
    expect([...shown]).toEqual([stored])
    expect(error).toHaveProperty('message', expect.stringContaining(`'${stored}'`))
  })

  it('is passed to loaders as it was given, also in a batch', async () => {
    const long = 'k'.repeat(5000)
    expect(await cache.getOrSet(long, ({ key }) => key)).toBe(long)
    await cache.delete(long)
    const loader = (missing: readonly string[]): Map<string, string> => new Map(missing.map((key) => [key, key]))
    expect(await cache.getOrSetMany([long, 'short'], loader)).toEqual(
      new Map([
        [long, long],
        ['short', 'short'],
      ]),
    )
  })
})

describe('a value that is to be set', () => {
  it('is refused when it is a promise: a hit could not return it', async () => {
    const error: unknown = await cache.set('k', Promise.resolve(7)).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'CATTLEGRID_INVALID_OPTION', message: expect.stringContaining('await') })
    expect(await cache.get('k')).toBeUndefined()
  })
})

describe('an invalid key', () => {
  const refused: readonly (readonly [string, unknown])[] = [
    ['undefined', undefined],
    ['null', null],
    ['a number', 7],
    ['NaN', Number.NaN],
    ['a bigint', 7n],
    ['a symbol', Symbol('k')],
    ['a String object', Object('k')],
    ['bytes', Buffer.from('k')],
    ['an array', ['k']],
    ['an object', { toString: () => 'k' }],
    ['a function', () => 'k'],
    ['a string that is too long', 'k'.repeat(65_537)],
  ]
  const loader = jest.fn(() => 'loaded')
  const calls: Record<string, (key: never) => Promise<unknown>> = {
    getOrSet: (key) => cache.getOrSet(key, loader),
    lookup: (key) => cache.lookup(key, loader),
    refresh: (key) => cache.refresh(key, loader),
    getOrSetMany: (key) => cache.getOrSetMany([key], () => new Map([[key, loader()]])),
    wrap: (key) => cache.wrap(loader, { key: () => key })(),
    get: (key) => cache.get(key),
    getMany: (key) => cache.getMany([key]),
    read: (key) => cache.read(key),
    set: (key) => cache.set(key, 'set'),
    delete: (key) => cache.delete(key),
    expire: (key) => cache.expire(key),
    inspect: (key) => cache.inspect(key),
  }

  it.each(refused)('such as %s is refused by every call before anything happens', async (_, key) => {
    await cache.set('k', 'as it was')
    for (const call of Object.values(calls)) {
      const error: unknown = await call(key as never).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(InvalidKeyError)
      expect(error).toMatchObject({ code: 'CATTLEGRID_INVALID_KEY', message: expect.stringContaining('65536') })
    }
    expect(loader).not.toHaveBeenCalled()
    expect(await cache.get('k')).toBe('as it was')
    expect(await store.clear()).toEqual({ kind: 'cleared', entries: 1 })
  })

  it('is shown in the error, but not at length: keys may hold what should not be in a log', async () => {
    const error: unknown = await cache.get('secret'.repeat(20_000)).catch((thrown: unknown) => thrown)
    expect(error).toHaveProperty('message', expect.stringContaining('a string of 120000 characters'))
    expect(error).toHaveProperty('message', expect.not.stringContaining('secret'))
  })

  it.each(['text', undefined, null, 7, new Set(['k'])])('is refused in place of a list of keys: %p', async (list) => {
    const expected = { code: 'CATTLEGRID_INVALID_KEY', message: expect.stringContaining('an array of strings') }
    await expect(cache.getMany(list as never)).rejects.toMatchObject(expected)
    await expect(cache.getOrSetMany(list as never, () => new Map())).rejects.toMatchObject(expected)
  })
})
