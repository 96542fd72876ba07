import { type Cache, createCache, type Load } from '@cattlegrid/core'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { auditOfLoad } from '../../src/audit/audited-load.ts'
import type { Exchange } from '../../src/road/exchange.ts'
import { HandlerTimes } from '../../src/road/handler-times.ts'
import type { LoadTask } from '../../src/road/loaded-response.ts'
import type { SubrequestLoader } from '../../src/road/subrequest-loader.ts'
import { httpCache } from '../../src/route/http-cache.ts'
import type { RouteOptions } from '../../src/route/options.ts'
import { compileRoute, type Route } from '../../src/route/route.ts'

const exchange = { place: '1 /page', pattern: '/page', target: '/page' } as Exchange
const subrequests = {
  asAnotherClient: () => () => Promise.reject(new Error('not sent')),
} as unknown as SubrequestLoader
const stale = {
  value: { status: 200, fields: { etag: '"1"' }, removed: [], body: Buffer.alloc(0), initialAge: 0 },
  age: 0,
}
const environment = process.env['NODE_ENV']

let cache: Cache
beforeEach(() => {
  cache = createCache()
})
afterEach(async () => {
  process.env['NODE_ENV'] = environment
  await cache.close()
})

function compiled(options: RouteOptions): Route {
  return compileRoute('cached', httpCache(cache), undefined, { ttl: '1m', ...options })
}

function isAudited(
  options: RouteOptions,
  sampled: boolean,
  task: Partial<LoadTask> = {},
  load: Partial<Load<never>> = {},
): boolean {
  const route = compiled(options)
  const about = { record: undefined, forwarded: 'uri-miss', collapseFailed: false, unkeyedUrl: false } as const
  const given = { leased: true, ...load } as Load<never>
  const whole = { ...about, load: given, loadId: '1', times: new HandlerTimes(route.runtime), ...task }
  return auditOfLoad({ exchange, route, sampled }, whole, subrequests) !== undefined
}

describe('a load is audited', () => {
  test('if its request was chosen', () => {
    expect([isAudited({ audit: {} }, true), isAudited({ audit: {} }, false)]).toEqual([true, false])
  })

  test('but not without a lease: its response is not stored', () => {
    expect(isAudited({ audit: {} }, true, {}, { leased: false })).toBe(false)
  })

  test('but not where its URL is not that of the key: its response is not stored', () => {
    expect(isAudited({ audit: {} }, true, { unkeyedUrl: true })).toBe(false)
  })

  test('but not where its handler may answer 304', () => {
    const found = { stale } as unknown as Partial<Load<never>>
    expect(isAudited({ audit: {}, revalidate: true }, true, {}, found)).toBe(false)
    expect(isAudited({ audit: {} }, true, {}, found)).toBe(true)
  })

  test('but not with audit: false', () => {
    process.env['NODE_ENV'] = 'development'
    expect(isAudited({ audit: false }, true)).toBe(false)
  })
})

describe('a route without the option', () => {
  test.each([
    ['development', true],
    ['production', false],
    ['test', false],
  ])('in %s: its first loads are audited is %s', (name, audited) => {
    process.env['NODE_ENV'] = name
    expect([isAudited({}, false), compiled({}).audit !== undefined]).toEqual([audited, audited])
  })
})
