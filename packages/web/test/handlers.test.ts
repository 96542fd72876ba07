import { createCache } from '@cattlegrid/core'
import { createManualRuntime } from '@cattlegrid/testkit'
import { describe, expect, it } from '@jest/globals'
import { until } from '../../../test/support/until.ts'
import { cachedHandler, directivesOf, isRefresh } from '../src/index.ts'
import { gate } from './support/gate.ts'
import { pieces, slowly } from './support/streams.ts'

const get = (path = '/page', init: RequestInit = {}): Request => new Request(`http://shop.test${path}`, init)
const textOf = async (response: Response | Promise<Response>): Promise<string> => await (await response).text()

/** A handler that answers with the number of its run; it waits for what `each` returns. */
function counting(each: (run: number, request: Request) => unknown = () => undefined) {
  let runs = 0
  const handler = async (request: Request): Promise<Response> => {
    const run = (runs += 1)
    const response = await each(run, request)
    return response instanceof Response ? response : new Response(`page ${run}`)
  }
  return { handler, runs: () => runs }
}

describe('cachedHandler', () => {
  it('runs the handler once for 200 requests at once, and gives all of them its body', async () => {
    const { passed, open } = gate()
    const { handler, runs } = counting(() => passed)
    const cached = cachedHandler(handler, { cache: createCache(), ttl: '30s' })
    const answers = Array.from({ length: 200 }, () => textOf(cached(get())))
    open()
    expect(new Set(await Promise.all(answers))).toEqual(new Set(['page 1']))
    expect(runs()).toBe(1)
  })

  it('separates two handlers of one URL by their names', async () => {
    const cache = createCache()
    const one = cachedHandler(() => new Response('one'), { cache, ttl: '30s', name: 'one' })
    const two = cachedHandler(() => new Response('two'), { cache, ttl: '30s', name: 'two' })
    for (let time = 0; time < 2; time += 1) {
      expect(await textOf(one(get()))).toBe('one')
      expect(await textOf(two(get()))).toBe('two')
    }
  })

  it('passes further arguments on', async () => {
    const handler = (_request: Request, id: number): Response => new Response(`id ${id}`)
    const cached = cachedHandler(handler, { cache: createCache(), ttl: '30s' })
    expect(await textOf(cached(get('/7'), 7))).toBe('id 7')
  })

  it('keeps a response as long as the handler says, under its tags', async () => {
    const runtime = createManualRuntime()
    const cache = createCache({ runtime })
    const { handler, runs } = counting((_run, request) => directivesOf(request).keep({ ttl: '1m', tags: ['grid'] }))
    const cached = cachedHandler(handler, { cache, ttl: '1s' })
    await textOf(cached(get()))
    await runtime.advance(30_000)
    expect(await textOf(cached(get()))).toBe('page 1')
    await cache.invalidateTags(['grid'])
    expect(await textOf(cached(get()))).toBe('page 2')
    expect(runs()).toBe(2)
  })

  it('stores nothing where the handler says so', async () => {
    const { handler } = counting((_run, request) => directivesOf(request).noStore())
    const cached = cachedHandler(handler, { cache: createCache(), ttl: '30s' })
    expect([await textOf(cached(get())), await textOf(cached(get()))]).toEqual(['page 1', 'page 2'])
  })
})

describe('a stale response', () => {
  const stale = async (each?: Parameters<typeof counting>[0]) => {
    const runtime = createManualRuntime()
    const works: Promise<unknown>[] = []
    const counted = counting(each)
    const cached = cachedHandler(counted.handler, {
      cache: createCache({ runtime }),
      ttl: '10s',
      staleWhileRevalidate: '1m',
      staleIfError: '1h',
      waitUntil: (work) => works.push(work),
    })
    const client = { headers: { cookie: 'a=1', 'x-user-id': 'ann', 'accept-language': 'de' } }
    expect(await textOf(cached(get('/page', client)))).toBe('page 1')
    await runtime.advance(10_001)
    return { cached, client, works, runtime, runs: counted.runs }
  }

  it('is served at once, and refreshed behind by a request that is no client’s', async () => {
    const { passed, open } = gate()
    const seen: Request[] = []
    const { cached, client, works } = await stale(async (run, request) => {
      if (run === 1) return
      seen.push(request)
      await passed
    })
    expect(await textOf(cached(get('/page', client)))).toBe('page 1')
    await until(() => seen.length === 1)
    const [refresh] = seen
    // A read of the cookie by its name would make the refreshed page a client's own.
    expect([...(refresh?.headers.keys() ?? [])]).toEqual(['cdn-loop', 'host'])
    expect(refresh?.url).toBe('http://shop.test/page')
    expect(refresh !== undefined && isRefresh(refresh)).toBe(true)
    expect(isRefresh(get())).toBe(false)
    expect(works).toHaveLength(1)
    open()
    await Promise.all(works)
    await until(async () => (await textOf(cached(get()))) === 'page 2')
  })

  it('is refreshed by a request of the class of its clients', async () => {
    class SiteRequest extends Request {
      readonly site = new URL(this.url).host
    }
    const { handler, runs } = counting((_run, request) => new Response((request as SiteRequest).site))
    const runtime = createManualRuntime()
    const cached = cachedHandler(handler, { cache: createCache({ runtime }), ttl: '10s', staleWhileRevalidate: '1m' })
    const page = async (): Promise<string> => await textOf(cached(new SiteRequest('http://shop.test/page')))
    expect(await page()).toBe('shop.test')
    await runtime.advance(10_001)
    expect(await page()).toBe('shop.test')
    await until(() => runs() === 2)
    expect(await page()).toBe('shop.test')
  })

  it('is served where the handler throws', async () => {
    const { cached, runtime, runs } = await stale((run) => {
      if (run > 1) throw new Error('boom')
    })
    await runtime.advance(60_001)
    expect(await textOf(cached(get()))).toBe('page 1')
    expect(runs()).toBe(2)
  })

  it('is served where the body of the handler fails', async () => {
    const { cached, runtime, runs } = await stale((run) =>
      run === 1 ? undefined : new Response(slowly(['a', new Error('cut')]), { status: 500 }),
    )
    await runtime.advance(60_001)
    expect(await textOf(cached(get()))).toBe('page 1')
    expect(runs()).toBe(2)
  })
})

describe('a client that leaves', () => {
  const held = (handler: (request: Request) => Response | Promise<Response>) => {
    const signals: AbortSignal[] = []
    const counted = counting(async (_run, request) => {
      signals.push(request.signal)
      return await handler(request)
    })
    const cached = cachedHandler(counted.handler, { cache: createCache(), ttl: '30s' })
    return { cached, signals, runs: counted.runs }
  }

  it('before the head does not cut its followers short, nor does the handler hear of it', async () => {
    const { passed, open } = gate()
    const { cached, signals, runs } = held(() => passed.then(() => new Response('page')))
    const leaving = new AbortController()
    const leader = cached(get('/page', { signal: leaving.signal }))
    const follower = textOf(cached(get()))
    await until(() => signals.length === 1)
    leaving.abort(new Error('gone'))
    await expect(leader).rejects.toThrow('gone')
    expect(signals[0]?.aborted).toBe(false)
    open()
    expect(await follower).toBe('page')
    expect(runs()).toBe(1)
  })

  it.each(['by its signal', 'by its body'])('%s in the middle does not cut its followers short', async (way) => {
    const { passed, open } = gate()
    const body = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from('a')
      await passed
      yield Buffer.from('b')
    }
    const { cached, signals, runs } = held(() => new Response(ReadableStream.from(body())))
    const leaving = new AbortController()
    const leader = await cached(get('/page', { signal: leaving.signal }))
    const follower = textOf(cached(get()))
    const reader = leader.body?.getReader()
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('a')
    if (way === 'by its signal') leaving.abort()
    else await reader?.cancel()
    expect(signals[0]?.aborted).toBe(false)
    open()
    expect(await follower).toBe('ab')
    expect(await textOf(cached(get()))).toBe('ab')
    expect(runs()).toBe(1)
  })

  it.each(['by its signal', 'by its body'])('%s ends a response that is nobody else’s', async (way) => {
    const more = async function* (): AsyncGenerator<Uint8Array> {
      for (;;) yield await new Promise<Uint8Array>((resolve) => setImmediate(resolve, Buffer.from('a')))
    }
    const headers = { 'cache-control': 'private' }
    const { cached, signals } = held(() => new Response(ReadableStream.from(more()), { headers }))
    const leaving = new AbortController()
    const leader = await cached(get('/page', { signal: leaving.signal }))
    const reader = leader.body?.getReader()
    await reader?.read()
    if (way === 'by its signal') leaving.abort()
    else await reader?.cancel()
    await until(() => signals.some(({ aborted }) => aborted))
    expect(signals).toHaveLength(1)
  })

  it('in time leaves nothing undone: a follower that leaves is rejected alone', async () => {
    const { passed, open } = gate()
    const { cached, runs } = held(() => passed.then(() => new Response('page')))
    const leader = textOf(cached(get()))
    const leaving = new AbortController()
    const follower = cached(get('/page', { signal: leaving.signal }))
    leaving.abort(new Error('gone'))
    await expect(follower).rejects.toThrow('gone')
    open()
    expect(await leader).toBe('page')
    expect(runs()).toBe(1)
  })
})

describe('a body', () => {
  const whole = Buffer.concat(pieces(512 * 1024)).toString('latin1')
  const latin1 = async (response: Response): Promise<string> =>
    Buffer.from(await response.arrayBuffer()).toString('latin1')

  it('is recorded whole although its client reads nothing', async () => {
    const { handler, runs } = counting(() => new Response(slowly(pieces(512 * 1024))))
    const cached = cachedHandler(handler, { cache: createCache(), ttl: '30s' })
    const leader = await cached(get())
    expect(await latin1(await cached(get()))).toBe(whole)
    expect(await latin1(leader)).toBe(whole)
    expect(runs()).toBe(1)
  })

  it('beyond maxBodyBytes is sent whole to its slow client, and is not stored', async () => {
    const { handler, runs } = counting(() => new Response(slowly(pieces(512 * 1024))))
    const cached = cachedHandler(handler, { cache: createCache(), ttl: '30s', maxBodyBytes: '100kb' })
    const leader = await cached(get())
    const other = await cached(get())
    expect(await latin1(other)).toBe(whole)
    expect(await latin1(leader)).toBe(whole)
    expect(runs()).toBe(2)
  })
})

describe('an error', () => {
  it('of the handler reaches its own client as it is, and the others get a 503', async () => {
    const { passed, open } = gate()
    const boom = new Error('boom')
    const { handler } = counting(() => passed.then(() => Promise.reject(boom)))
    const cached = cachedHandler(handler, { cache: createCache(), ttl: '30s' })
    const leader = cached(get())
    const follower = cached(get())
    open()
    await expect(leader).rejects.toBe(boom)
    const { status, headers } = await follower
    expect([status, headers.get('cache-control')]).toEqual([503, 'no-store'])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  })

  it.each([
    { name: 'waitTimeout', options: { waitTimeout: '1s', maxLoads: 1 } as const, path: '/other', status: 503 },
    { name: 'maxWaitersPerKey', options: { maxWaiters: 1, maxWaitersPerKey: 1 } as const, path: '/page', status: 503 },
    { name: 'loadTimeout', options: { loadTimeout: '1s' } as const, path: '/page', status: 504 },
  ])('of the cache at $name is a $status with a Retry-After', async ({ options, path, status }) => {
    const runtime = createManualRuntime()
    const { passed, open } = gate()
    const { handler, runs } = counting(() => passed)
    const cached = cachedHandler(handler, { cache: createCache({ runtime, ...options }), ttl: '30s' })
    const leader = cached(get())
    const others = [cached(get(path)), cached(get(path))]
    await until(() => runs() === 1)
    await runtime.advance(1001)
    const other = await Promise.race(others)
    expect(other.status).toBe(status)
    expect(other.headers.get('cache-control')).toBe('no-store')
    expect(Number(other.headers.get('retry-after') ?? 1)).toBeGreaterThan(0)
    expect(other.headers.has('retry-after')).toBe(status === 503)
    open()
    await Promise.allSettled([leader, ...others])
  })
})
