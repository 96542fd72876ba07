import { createCache } from '@cattlegrid/core'
import { describe, expect, test } from '@jest/globals'
import type { Answer } from '../../src/response/answer.ts'
import { httpCache } from '../../src/route/http-cache.ts'
import type { RouteOptions } from '../../src/route/options.ts'
import { type RecordedResponse, storedCodec } from '../../src/response/recorded-response.ts'
import { requestKey } from '../../src/request/request-key.ts'
import { compileRoute, type Route } from '../../src/route/route.ts'
import { serve } from '../../src/road/serve.ts'
import { variantKey } from '../../src/response/vary.ts'
import { TestExchange } from '../support/exchange.ts'

const STORED: RecordedResponse = {
  status: 200,
  fields: { date: 'Tue, 15 Jan 2030 12:00:00 GMT', etag: '"1"' },
  removed: [],
  body: Buffer.from('stored'),
  initialAge: 0,
}
const PLACE = { scheme: 'http', host: 'shop.test', target: '/a', place: '', decodesPath: true }
const KEY = requestKey({ ...PLACE, extra: [undefined, undefined] }) ?? ''

/** What became of a request, as far as it is known when `serve` returns. */
interface Asked {
  readonly exchange: TestExchange
  readonly sent: Answer[]
  passed: number
}

function asks(headers: Record<string, string> = {}, send?: () => void): Asked {
  const asked: Asked = {
    sent: [],
    passed: 0,
    exchange: new TestExchange(headers, {
      pass: () => void (asked.passed += 1),
      send: (answer) => (send === undefined ? void asked.sent.push(answer) : send()),
    }),
  }
  return asked
}

async function routeWith(entries: Record<string, unknown>, options: RouteOptions = {}): Promise<Route> {
  const http = httpCache(createCache({ ttl: '1h', codec: storedCodec }))
  for (const [key, value] of Object.entries(entries)) await http.cache.set(key, value)
  return compileRoute('route', http, undefined, { ttl: '1h', ...options })
}

describe('a fresh response that this process holds', () => {
  test('is sent without awaiting anything', async () => {
    const asked = asks()
    serve(asked.exchange, await routeWith({ [KEY]: STORED }))
    expect(asked.sent.map(({ status, extraFields, body }) => [status, extraFields, body])).toEqual([
      [200, { age: '0' }, STORED.body],
    ])
  })

  test('is sent at once where the URL varies, too, and only to requests with the same selecting fields', async () => {
    const record = { vary: ['accept-language'], id: 'one' }
    const mine = { 'accept-language': 'de' }
    const route = await routeWith({ [KEY]: record, [variantKey(KEY, record, mine)]: STORED })
    const [same, other] = [asks(mine), asks({ 'accept-language': 'en' })]
    serve(same.exchange, route)
    serve(other.exchange, route)
    expect([same.sent.length, other.sent.length]).toEqual([1, 0])
  })

  test('that is kept only to be revalidated is not sent', async () => {
    const asked = asks()
    serve(asked.exchange, await routeWith({ [KEY]: { ...STORED, usableFor: 0 } }))
    expect(asked.sent).toEqual([])
  })

  test('is not sent to a client whose directives are obeyed and ask for a younger one', async () => {
    const asked = asks({ 'cache-control': 'max-age=0' })
    serve(asked.exchange, await routeWith({ [KEY]: STORED }, { clientDirectives: () => true }))
    expect(asked.sent).toEqual([])
  })

  test.each([
    ['', {}],
    [', although its headersSent says that nothing is sent', { headersSent: { get: () => false } }],
  ])('is not sent where an outer layer has answered and passed the request on%s', async (_, properties) => {
    const asked = asks()
    Object.defineProperties(asked.exchange.res, properties)
    asked.exchange.res.writeHead(200)
    serve(asked.exchange, await routeWith({ [KEY]: STORED }))
    expect(asked.sent).toEqual([])
  })

  test('leaves the request to its handler where an outer layer throws at it', async () => {
    const asked = asks({}, () => {
      throw new Error('not this one')
    })
    serve(asked.exchange, await routeWith({ [KEY]: STORED }))
    await new Promise((resolve) => setImmediate(resolve))
    expect(asked.passed).toBe(1)
  })

  test('is not sent when its cache is closed', async () => {
    const route = await routeWith({ [KEY]: STORED })
    await route.cache.close()
    const asked = asks()
    serve(asked.exchange, route)
    await new Promise((resolve) => setImmediate(resolve))
    expect([asked.sent, asked.passed]).toEqual([[], 1])
  })
})

describe('the memo of a route', () => {
  test.each<[string, RouteOptions, Record<string, string>, number]>([
    ['a plain request', {}, {}, 1],
    ['credentials', { authorization: 'key' }, { authorization: 'Bearer secret' }, 0],
    ['cookies', { key: { cookies: ['session'] } }, { cookie: 'session=secret' }, 0],
  ])('with %s', async (_, options, headers, remembered) => {
    const route = await routeWith({}, options)
    serve(asks(headers).exchange, route)
    expect(route.keys.size.keys).toBe(remembered)
  })
})
