import { type Cache, createCache } from '@cattlegrid/core'
import { afterAll, describe, expect, test } from '@jest/globals'
import { httpCache } from '../../src/route/http-cache.ts'
import type { RouteOptions } from '../../src/route/options.ts'
import { compileRoute, type Route } from '../../src/route/route.ts'
import { optionsTable } from '../options-table.ts'

const cache: Cache = createCache()
const http = httpCache(cache)
afterAll(() => cache.close())

const compile = (options: unknown, defaults?: RouteOptions): Route =>
  compileRoute('cached', http, defaults, options as RouteOptions)

const rows = Object.entries(optionsTable['RouteOptions'] ?? {})
const refused = rows.flatMap(([name, values]) => (values as unknown[]).map((value) => [name, value] as const))

describe('options of a route', () => {
  test.each(refused)('%s: %p is refused by name', (name, value) => {
    expect(() => compile({ ttl: '1s', [name]: value })).toThrow(
      expect.objectContaining({
        code: 'CATTLEGRID_INVALID_OPTION',
        option: expect.stringMatching(`(cached\\.)?${name}`),
      }),
    )
  })

  test.each(rows.map(([name]) => name))('%s: undefined means not given', (name) => {
    expect(() => compile({ [name]: undefined })).not.toThrow()
  })

  test.each([
    ['stalewhilerevalidate', 'staleWhileRevalidate'],
    ['tll', 'ttl'],
    ['maxBodyByte', 'maxBodyBytes'],
    ['cachestatus', 'cacheStatus'],
  ])('%s is no option: did you mean %s?', (wrong, meant) => {
    expect(() => compile({ [wrong]: 1 })).toThrow(`did you mean '${meant}'?`)
  })

  test.each([null, 1, 'ttl', [], true])('%p is no object with options', (options) => {
    expect(() => compile(options)).toThrow(expect.objectContaining({ option: 'cached' }))
  })

  test('options of the core that do not fit each other are refused when the route is declared', () => {
    expect(() => compile({ lease: { duration: '10s', maxHold: '5s' } })).toThrow(
      expect.objectContaining({ option: 'cached.lease.maxHold' }),
    )
    for (const ttl of ['2s', 'origin', () => 1000] as const)
      expect(() => compile({ ttl, earlyRefresh: { before: '1s' } })).not.toThrow()
    expect(() => compile({ ttl: '1s', earlyRefresh: { before: '1s' } })).toThrow(
      expect.objectContaining({ option: 'cached.earlyRefresh.before' }),
    )
  })
})

describe('options inside an option', () => {
  const inside = [
    ['key', optionsTable['KeyOptions']],
    ['query', optionsTable['QueryOptions']],
  ] as const
  const cases = inside.flatMap(([option, table]) =>
    Object.entries(table ?? {}).flatMap(([name, values]) =>
      (values as unknown[]).map((value) => [option, name, value] as const),
    ),
  )
  test.each(cases)('%s.%s: %p is refused by name', (option, name, value) => {
    expect(() => compile({ [option]: { [name]: value } })).toThrow(
      expect.objectContaining({ code: 'CATTLEGRID_INVALID_OPTION', option: `cached.${option}.${name}` }),
    )
  })
})

describe('the defaults of an adapter', () => {
  test('hold where a route gives no option, or undefined', () => {
    const route = compile({ ttl: undefined, maxBodyBytes: 5 }, { ttl: '3s', maxBodyBytes: 7, staleIfError: '1m' })
    expect(route.ttl(undefined, undefined)).toBe(3000)
    expect(route.storage).toMatchObject({ maxBodyBytes: 5, staleIfError: 60_000 })
  })

  test('are app mode, 1 MiB, 5 s for 404 and 410, and no Cache-Status where none are given', () => {
    const route = compile(undefined)
    expect(route.ttl(undefined, undefined)).toBeUndefined()
    expect(route.storage).toMatchObject({ maxBodyBytes: 1024 ** 2, negativeTtl: 5000 })
    expect(route.cacheStatus).toBeUndefined()
  })
})

describe('functions among the options', () => {
  test.each([[undefined], [0], [-1], [Number.NaN], ['soon'], [null]])('a ttl of %p stores nothing', (answer) => {
    expect(compile({ ttl: () => answer }).ttl(undefined, undefined)).toBeNaN()
  })

  test('one that throws stores nothing and serves nothing', () => {
    const fail = (): never => {
      throw new Error('a bug')
    }
    const route = compile({ ttl: fail, skip: fail })
    expect(route.ttl(undefined, undefined)).toBeNaN()
    expect(route.skip(undefined)).toBe(true)
  })

  test('a ttl is a duration like any other', () => {
    expect(compile({ ttl: () => '2m' }).ttl(undefined, undefined)).toBe(120_000)
  })
})
