import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { createCache } from '@cattlegrid/core'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { cachedHandler, type WebRouteOptions } from '../src/index.ts'
import { WAYS } from './support/answers.ts'
import { type Outcome, outcomeOf } from './support/outcome.ts'
import type { Handler } from './support/streams.ts'

const URL_OF_PAGE = 'http://shop.test/page?b=2&a=1&a=%20'

function counted(handler: Handler): { readonly handler: Handler; readonly runs: () => number } {
  let runs = 0
  const counting: Handler = (request) => {
    runs += 1
    return handler(request)
  }
  return { handler: counting, runs: () => runs }
}

function cachedBy(handler: Handler, options: WebRouteOptions = {}): (request: Request) => Promise<Response> {
  return cachedHandler(handler, { cache: createCache(), ttl: '30s', ...options })
}

/** The outcomes of the handler alone, and of two requests to its cache. */
async function outcomesOf(
  handler: Handler,
  request: RequestInit = {},
  without: readonly string[] = [],
): Promise<{ alone: Outcome; first: Outcome; second: Outcome; runs: number }> {
  const make = requestsOf(request)
  const alone = await outcomeOf(async () => await handler(make()), without)
  const added = alone.fields?.['etag'] === undefined ? ['etag', ...without] : without
  const count = counted(handler)
  const cached = cachedBy(count.handler)
  const first = await outcomeOf(async () => await cached(make()), added)
  const second = await outcomeOf(async () => await cached(make()), added)
  return { alone, first, second, runs: count.runs() }
}

/** Each request has its own body: a stream can be read once. */
function requestsOf({ body, ...init }: RequestInit): () => Request {
  let left = body
  return () => {
    if (!(left instanceof ReadableStream)) return new Request(URL_OF_PAGE, { ...init, body: left ?? null })
    const [own, rest] = left.tee()
    left = rest
    return new Request(URL_OF_PAGE, { ...init, body: own })
  }
}

describe('the cache answers as the handler alone does', () => {
  it.each(WAYS)('with $name', async ({ handler, request, runs = 1, fails = false }) => {
    const { alone, first, second, runs: counts } = await outcomesOf(handler, request)
    expect(first).toEqual(alone)
    expect(second).toMatchObject(fails ? { status: 503, fields: { 'retry-after': '1' } } : alone)
    expect(counts).toBe(runs)
  })
})

describe('the cache answers with what fetch() has brought', () => {
  let server: Server
  let origin: string
  const text = 'cattle grid '.repeat(500)

  beforeAll(async () => {
    server = createServer((req, res) => {
      if (req.url === '/gzip') return res.setHeader('content-encoding', 'gzip').end(gzipSync(text))
      if (req.url === '/moved') return res.writeHead(302, { location: '/plain' }).end()
      if (req.headers.range === undefined) return res.setHeader('x-origin', 'yes').end(text)
      return res.writeHead(206, { 'content-range': `bytes 0-9/${text.length}` }).end(text.slice(0, 10))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })

  it.each([
    { name: 'a page', path: '/plain', init: {}, runs: 1 },
    { name: 'a coded page', path: '/gzip', init: {}, runs: 1 },
    { name: 'a part of a page', path: '/plain', init: { headers: { range: 'bytes=0-9' } }, runs: 2 },
    { name: 'a page behind a redirect', path: '/moved', init: {}, runs: 1 },
    { name: 'a redirect', path: '/moved', init: { redirect: 'manual' } as const, runs: 2 },
  ])('as $name', async ({ path, init, runs }) => {
    // The body was decoded: its coding is that of other bytes.
    const outcomes = await outcomesOf(() => fetch(origin + path, init), {}, ['content-encoding'])
    expect(outcomes.first).toEqual(outcomes.alone)
    expect(outcomes.second).toEqual(outcomes.alone)
    expect(outcomes.runs).toBe(runs)
  })

  it('without the coding and the length of the bytes before', async () => {
    const cached = cachedBy(() => fetch(`${origin}/gzip`))
    for (const response of [await cached(new Request(URL_OF_PAGE)), await cached(new Request(URL_OF_PAGE))]) {
      expect(response.headers.get('content-encoding')).toBeNull()
      expect([null, String(text.length)]).toContain(response.headers.get('content-length'))
      expect(await response.text()).toBe(text)
    }
  })
})

describe('the cache answers conditions and ranges for the handler', () => {
  const page = (etag?: string): Handler => {
    return () => new Response('0123456789', { headers: { 'x-page': 'yes', ...(etag === undefined ? {} : { etag }) } })
  }
  const asking = (headers: Record<string, string>, method = 'GET'): Request =>
    new Request(URL_OF_PAGE, { headers, method })

  it.each([
    { name: 'the entity-tag', field: { 'if-none-match': '"v1"' }, status: 304 },
    { name: 'the entity-tag in a list', field: { 'if-none-match': '"v0", W/"v1"' }, status: 304 },
    { name: 'a star', field: { 'if-none-match': '*' }, status: 304 },
    { name: 'another entity-tag', field: { 'if-none-match': '"v2"' }, status: 200 },
  ])('by 304 to $name', async ({ field, status }) => {
    const cached = cachedBy(page('"v1"'))
    for (const response of [await cached(asking(field)), await cached(asking(field))]) {
      expect(response.status).toBe(status)
      expect(response.headers.get('etag')).toBe('"v1"')
      expect(response.headers.get('x-page')).toBe('yes')
      expect(await response.text()).toBe(status === 304 ? '' : '0123456789')
    }
  })

  it('by the entity-tag that it made itself', async () => {
    const cached = cachedBy(page())
    await (await cached(asking({}))).text()
    const etag = (await cached(asking({}))).headers.get('etag') ?? ''
    expect(etag).toMatch(/^W\/"/)
    expect((await cached(asking({ 'if-none-match': etag }))).status).toBe(304)
  })

  it('leaves the condition of a handler that is not stored to the handler', async () => {
    const own: Handler = ({ headers }) => {
      const isKnown = headers.get('if-none-match') === '"v1"'
      const fields = { etag: '"v1"', 'cache-control': 'private' }
      return new Response(isKnown ? null : 'page', { status: isKnown ? 304 : 200, headers: fields })
    }
    const cached = cachedBy(own)
    await (await cached(asking({}))).text()
    expect((await cached(asking({ 'if-none-match': '"v1"' }))).status).toBe(304)
  })

  it.each([
    { name: 'a part', field: { range: 'bytes=2-4' }, status: 206, body: '234' },
    { name: 'the end', field: { range: 'bytes=-3' }, status: 206, body: '789' },
    { name: 'nothing', field: { range: 'bytes=50-' }, status: 416, body: '' },
    { name: 'several parts', field: { range: 'bytes=0-1,4-5' }, status: 200, body: '0123456789' },
    { name: 'another version', field: { range: 'bytes=2-4', 'if-range': '"v2"' }, status: 200, body: '0123456789' },
  ])('with a hit for a Range of $name', async ({ field, status, body }) => {
    const cached = cachedBy(page('"v1"'), { range: true })
    await (await cached(asking({}))).text()
    const response = await cached(asking(field))
    expect([response.status, await response.text()]).toEqual([status, body])
  })

  it('HEAD without a body, first and from the entry of a GET', async () => {
    const { handler, runs } = counted(page('"v1"'))
    const cached = cachedBy(handler)
    for (const response of [await cached(asking({}, 'HEAD')), await cached(asking({}, 'HEAD'))]) {
      expect([response.status, response.headers.get('x-page'), await response.text()]).toEqual([200, 'yes', ''])
      expect(response.headers.get('content-length')).toBe('10')
    }
    expect(runs()).toBe(1)
  })
})

describe('the cache answers no client that has left', () => {
  it('before it asks', async () => {
    const { handler } = counted(() => new Response('page'))
    const gone = new Request(URL_OF_PAGE, { signal: AbortSignal.abort(new Error('gone')) })
    expect(await outcomeOf(() => cachedBy(handler)(gone))).toEqual({ error: 'gone' })
  })

  it('in the middle of a body over the limit, of which the handler hears', async () => {
    let stop: (reason: unknown) => void = () => undefined
    const stopped = new Promise((resolve) => {
      stop = resolve
    })
    const endless = (): Response =>
      new Response(
        new ReadableStream<Uint8Array>({
          async pull(controller) {
            await setImmediate()
            controller.enqueue(new Uint8Array(64 * 1024))
          },
          cancel: stop,
        }),
      )
    const response = await cachedBy(endless)(new Request(URL_OF_PAGE))
    const client = response.body?.getReader()
    await client?.read()
    await client?.cancel('gone')
    expect(await stopped).toBeUndefined()
  })
})
