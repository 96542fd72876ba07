import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { type Cache, createCache } from '@cattlegrid/core'
import { expect, test } from '@jest/globals'
import type { Exchange } from '../../src/exchange.ts'
import { NoSharedResult } from '../../src/response/errors.ts'
import { httpCache } from '../../src/route/http-cache.ts'
import { compileRoute } from '../../src/route/route.ts'
import { serve } from '../../src/serve.ts'

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

function exchangeOf(
  req: IncomingMessage,
  onAnswer: (how: 'pass' | 'run' | 'send' | 'fail') => void,
  res: ServerResponse = new ServerResponse(req),
): Exchange {
  return {
    scheme: 'http',
    host: 'shop.test',
    target: '/a',
    place: '',
    decodesPath: true,
    req,
    res,
    request: req,
    response: res,
    field: () => undefined,
    rewriteUrl: () => undefined,
    pass: () => onAnswer('pass'),
    run: () => onAnswer('run'),
    send: () => onAnswer('send'),
    fail: () => onAnswer('fail'),
    dispatch: () => undefined,
  }
}

test('a GET that waited for one response after another, and got none, runs its own handler and says that it waited', async () => {
  const { cache, lookups } = neverShares()
  const route = compileRoute('route', httpCache(cache), undefined, { ttl: '1h', cacheStatus: true })
  const req = new IncomingMessage(new Socket())
  Object.assign(req, { method: 'GET', headers: { host: 'shop.test' } })
  const res = new ServerResponse(req)
  await new Promise<void>((resolve) => {
    const exchange = exchangeOf(req, () => resolve(), res)
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
  const req = new IncomingMessage(new Socket())
  Object.assign(req, { method: 'GET', headers: { host: 'shop.test', 'cache-control': 'only-if-cached' } })
  const answered = new Promise<number | string>((resolve) => {
    const exchange = exchangeOf(req, (how) => resolve(how))
    serve({ ...exchange, send: ({ status }) => resolve(status) }, route)
  })
  expect(await answered).toBe(504)
})
