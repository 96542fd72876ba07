import { type Cache, createCache } from '@cattlegrid/core'
import { expect, test } from '@jest/globals'
import type { Answer } from '../../src/response/answer.ts'
import { NoSharedResult } from '../../src/response/errors.ts'
import { httpCache } from '../../src/route/http-cache.ts'
import { compileRoute } from '../../src/route/route.ts'
import { serve } from '../../src/road/serve.ts'
import { TestExchange } from '../support/exchange.ts'

/** A cache whose every lookup waits for a response that no other request may get. */
function neverShares(): { readonly cache: Cache; readonly lookups: () => number } {
  let lookups = 0
  const lookup = async (): Promise<never> => {
    lookups += 1
    throw new NoSharedResult('the test')
  }
  const cache = createCache({ ttl: '1h' })
  return { cache: Object.assign(cache, { lookup, with: () => cache }), lookups: () => lookups }
}

test('a GET that waited for one response after another, and got none, runs its own handler and says that it waited', async () => {
  const { cache, lookups } = neverShares()
  const route = compileRoute('route', httpCache(cache), undefined, { ttl: '1h', cacheStatus: true })
  const { res } = await new Promise<TestExchange>((resolve) => {
    const exchange: TestExchange = new TestExchange({}, { pass: () => resolve(exchange) })
    serve(exchange, route)
  })
  res.writeHead(200)
  expect(lookups()).toBe(16)
  expect(res.getHeader('cache-status')).toBe('cattlegrid; fwd=uri-miss; collapsed=?0')
})

test('a request that takes stored responses only gets a 504 where the cache is closed, and its handler does not run', async () => {
  const cache = createCache({ ttl: '1h' })
  const route = compileRoute('route', httpCache(cache), undefined, { ttl: '1h', clientDirectives: () => true })
  await cache.close()
  const answered = new Promise<number | string>((resolve) => {
    const calls = {
      pass: () => resolve('pass'),
      run: () => resolve('run'),
      fail: () => resolve('fail'),
      send: ({ status }: Answer) => resolve(status),
    }
    serve(new TestExchange({ 'cache-control': 'only-if-cached' }, calls), route)
  })
  expect(await answered).toBe(504)
})
