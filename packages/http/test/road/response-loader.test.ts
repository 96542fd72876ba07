import { createCache, type Load } from '@cattlegrid/core'
import { expect, test } from '@jest/globals'
import { ResponseLoader } from '../../src/road/response-loader.ts'
import { isLoop } from '../../src/request/loop-detection.ts'
import { httpCache } from '../../src/route/http-cache.ts'
import type { RequestContext } from '../../src/road/admission.ts'
import { compileRoute } from '../../src/route/route.ts'
import { TestExchange } from '../support/exchange.ts'

const MISS = { record: undefined, forwarded: 'uri-miss', collapseFailed: false } as const

const context: Omit<RequestContext, 'exchange' | 'route'> = {
  key: 'the key',
  target: '/a',
  unkeyedCredentials: false,
  directives: { noStore: false, onlyIfCached: false, maxAge: undefined },
  unshareable: undefined,
  hadAuthority: false,
  keyedUrl: (url) => url,
  urlTag: () => undefined,
}

function loadOf(key: string): Load<never> {
  const { signal } = new AbortController()
  const ignore = (): void => undefined
  return { key, signal, stale: undefined, background: false, leased: true, keep: ignore, uncacheable: ignore }
}

test('a further load of a request, which brings nothing, leaves the loop detection of the first one', async () => {
  const exchange = new TestExchange()
  const route = compileRoute('route', httpCache(createCache({ ttl: '1h' })), undefined, { ttl: '1h' })
  const loader = new ResponseLoader({ exchange, route, ...context })
  const running = loader.load(loadOf('the key'), MISS)
  await expect(loader.load(loadOf('the key of a variant'), MISS)).rejects.toThrow('has led a load before')
  expect(isLoop(exchange.headers, 'the key')).toBe(true)
  loader.recorder?.markUnshareable('hijacked')
  await running
  expect(isLoop(exchange.headers, 'the key')).toBe(false)
})
