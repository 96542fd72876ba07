import { createCache } from '@cattlegrid/core'
import { describe, expect, it } from '@jest/globals'
import { type EventHandler, H3, H3Event, HTTPError, serve, toRequest } from 'h3'
import { cachedEventHandler, type CachedEventHandlerOptions } from '../src/h3.ts'
import { isRefresh } from '../src/index.ts'
import { until } from '../../../test/support/until.ts'
import { type Outcome, outcomeOf } from './support/outcome.ts'

type Options = Partial<CachedEventHandlerOptions>

function cachedBy(handler: EventHandler, options: Options = {}): EventHandler {
  return cachedEventHandler(handler, { cache: createCache(), ttl: '30s', ...options })
}

function appOf(handler: EventHandler): H3 {
  const app = new H3({ silent: true, onError: ({ message, status }) => Response.json({ told: message }, { status }) })
  app.use((event) => {
    event.res.headers.set('x-outer', '1')
    event.res.status = 203
  })
  return app.get('/page', handler)
}

/** The outcome of each of so many requests to a server of the app: h3 completes a response only when it sends it. */
async function outcomesOf(app: H3, requests: number): Promise<readonly Outcome[]> {
  const server = serve(app, { port: 0, hostname: '127.0.0.1', silent: true, gracefulShutdown: false })
  await server.ready()
  const outcomes: Outcome[] = []
  for (let asked = 0; asked < requests; asked += 1)
    outcomes.push(spaceless(await outcomeOf(() => fetch(`${server.url}page`), ['etag'])))
  await server.close(true)
  return outcomes
}

/** The server writes the type of a text with a space, a `Response` without one. */
function spaceless({ fields = {}, ...rest }: Outcome): Outcome {
  const shortened = Object.entries(fields).map(([name, value]) => [name, value.replace('; charset', ';charset')])
  return { ...rest, fields: Object.fromEntries(shortened) as Record<string, string> }
}

const page = (app: H3): Promise<Response> => Promise.resolve(app.fetch(toRequest('http://shop.test/page')))

const fails = (error: Error): EventHandler => {
  return () => {
    throw error
  }
}

const WAYS: readonly (readonly [string, EventHandler, { readonly runs?: number; readonly refused?: boolean }?])[] = [
  ['an object', () => ({ name: 'gate' })],
  ['an array', () => [1, null, 'ü']],
  ['a text', () => 'grid'],
  ['a number', () => 7],
  ['false', () => false],
  ['null', () => null],
  ['undefined', () => undefined],
  ['bytes', () => new Uint8Array([0, 255])],
  ['a Blob', () => new Blob(['grid'], { type: 'text/x-grid' })],
  ['a stream', () => new Blob(['grid']).stream()],
  ['a Response', () => new Response('grid', { headers: { 'x-own': '1' } })],
  ['a Response that sets what a layer outside has set', () => new Response('grid', { headers: { 'x-outer': '2' } })],
  ['a field that a layer outside has set', (event) => `${event.res.headers.get('x-outer')}`],
  ['a field set anew', ({ res }) => (res.headers.set('x-outer', '2'), 'grid')],
  ['a field taken away', ({ res }) => (res.headers.delete('x-outer'), 'grid')],
  ['a status', ({ res }) => ((res.status = 404), 'none')],
  ['an error that it returns', () => new HTTPError({ status: 418, message: 'tea' }), { runs: 2 }],
  ['a page that is not there', fails(new HTTPError({ status: 404, message: 'none' }))],
  ['an error for one client', fails(new HTTPError({ status: 403, message: 'not yours' })), { runs: 2 }],
  ['an error of the server', fails(new HTTPError({ status: 502, message: 'later' })), { refused: true }],
  ['an error that nobody expected', fails(new Error('boom')), { refused: true }],
]

describe('the cache answers as h3 does', () => {
  it.each(WAYS)('with %s', async (_name, handler, { runs = 1, refused = false } = {}) => {
    let counts = 0
    const counting: EventHandler = (event) => {
      counts += 1
      return handler(event)
    }
    const [alone] = await outcomesOf(appOf(handler), 1)
    const [first, second] = await outcomesOf(appOf(cachedBy(counting)), 2)
    expect(first).toEqual(alone)
    expect(second).toMatchObject(refused ? { status: 503 } : (alone ?? {}))
    expect(counts).toBe(runs)
  })
})

describe('the refresh of a stale response', () => {
  const stale = { ttl: '5ms', staleWhileRevalidate: '1h' } as const

  it('goes through the app, as a request of the cache’s own', async () => {
    const seen: boolean[] = []
    const app = new H3()
    app.use((event) => void seen.push(isRefresh(event.req)))
    let runs = 0
    app.get(
      '/page',
      cachedBy(() => `run ${(runs += 1)}`, stale),
    )
    await page(app)
    await until(async () => (await (await page(app)).text()) !== 'run 1')
    expect(seen).toContain(true)
    expect(seen[0]).toBe(false)
  })

  it('goes to the handler where the event has no app', async () => {
    let runs = 0
    const cached = cachedBy(() => `run ${(runs += 1)}`, stale)
    const ask = async (): Promise<string> => {
      const response = (await cached(new H3Event(toRequest('http://shop.test/page')))) as Response
      return await response.text()
    }
    expect(await ask()).toBe('run 1')
    await until(async () => (await ask()) !== 'run 1')
  })
})

it.each<[string, EventHandler]>([
  ['throws', fails(new Error('boom'))],
  ['returns', () => new Error('boom')],
])(
  'what the app answers for an error that the handler %s is not stored, although it looks like a success',
  async (_, handler) => {
    const app = new H3({ silent: true, onError: () => Response.json({ sorry: true }) })
    app.get('/page', cachedBy(handler, { cacheStatus: true }))
    expect((await page(app)).status).toBe(200)
    expect(String((await page(app)).headers.get('cache-status'))).not.toMatch(/hit|collapsed/)
  },
)

it('50 requests at once run the handler once', async () => {
  let runs = 0
  const app = new H3()
  app.get(
    '/page',
    cachedBy(async () => {
      runs += 1
      await new Promise(setImmediate)
      return { runs }
    }),
  )
  const pages = await Promise.all(Array.from({ length: 50 }, async () => await (await page(app)).text()))
  expect(new Set(pages)).toEqual(new Set(['{"runs":1}']))
})

it('a request of a server’s own class, which cannot be made by a URL, is a Request for the handler', async () => {
  class Own extends Request {
    constructor({ url }: { readonly url: string }) {
      super(url)
    }
  }
  const app = new H3().get(
    '/page',
    cachedBy((event) => event.req.constructor === Request),
  )
  const response = await app.fetch(new Own({ url: 'http://shop.test/page' }))
  expect(await response.text()).toBe('true')
})
