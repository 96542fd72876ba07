import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
  type RequestListener,
  type RequestOptions,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type Cache, createCache } from '@cattlegrid/core'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import {
  compileRoute,
  type HttpCache,
  httpCache,
  type KeyOptions,
  nextDeclaration,
  MiddlewareExchange,
  type NodeMiddleware,
  purgeMiddleware,
  type RouteOptions,
  serve,
} from '../../src/index.ts'

type Layer = readonly [mount: string, middleware: NodeMiddleware]

let cache: Cache
let http: HttpCache
let app: RequestListener
let runs: number
beforeEach(() => {
  cache = createCache()
  http = httpCache(cache)
  runs = 0
})
afterEach(() => cache.close())

class AppExchange extends MiddlewareExchange {
  dispatch(req: IncomingMessage, res: ServerResponse): void {
    app(req, res)
  }
}

function cached(options: RouteOptions<IncomingMessage, ServerResponse> = {}): NodeMiddleware {
  const route = compileRoute('cached', http, undefined, { ttl: '1h', ...options })
  const declaration = nextDeclaration(http)
  return (req, res, next) => serve(new AppExchange(req, res, next, declaration), route)
}

/** Responds with the URLs that it sees. */
function handler(req: IncomingMessage & { readonly originalUrl?: string }, res: ServerResponse): void {
  runs += 1
  res.end(`${req.url} of ${req.originalUrl}`)
}

function fails(): never {
  throw new Error('no key')
}

const AUTHORITY = /^(?:http:\/\/[^/]*)?/
const END: Layer = ['', (_req, res) => void res.writeHead(404).end()]

/** Calls the layers in turn, as Connect does: each sees the URL without the path of its mount point. */
function use(...stack: readonly Layer[]): void {
  app = (req: IncomingMessage & { originalUrl?: string }, res) => {
    req.originalUrl = req.url ?? ''
    const run = ([[mount, middleware] = END, ...rest]: readonly Layer[]): void => {
      const { url = '' } = req
      if (!url.replace(AUTHORITY, '').startsWith(mount)) return run(rest)
      req.url = url.replace(mount, '')
      return middleware(req, res, (error) => {
        req.url = req.url?.replace(AUTHORITY, `$&${mount}`) ?? ''
        if (error === undefined) run(rest)
        else res.writeHead(500).end((error as Error).message)
      })
    }
    run(stack)
  }
}

/** Sends the requests one after the other; resolves to the bodies, or to the statuses of empty ones. */
async function ask(...requests: readonly (string | RequestOptions)[]): Promise<readonly string[]> {
  const server = createServer((req, res) => app(req, res)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const bodies: string[] = []
  for (const options of requests) {
    const sent = request({ port, agent: false, ...(typeof options === 'string' ? { path: options } : options) }).end()
    const [res] = (await once(sent, 'response')) as [IncomingMessage]
    bodies.push((await text(res)) || String(res.statusCode))
  }
  await new Promise((resolve) => server.close(resolve))
  return bodies
}

describe('a middleware over node:http', () => {
  test('distinguishes equal paths under two mount points', async () => {
    use(
      ...['/one', '/two'].flatMap((mount): Layer[] => [
        [mount, cached()],
        [mount, handler],
      ]),
    )
    expect(await ask('/one/a', '/two/a', '/one/a')).toEqual(['/a of /one/a', '/a of /two/a', '/a of /one/a'])
    expect(runs).toBe(2)
  })

  test('distinguishes an outer and an inner layer of one URL', async () => {
    const keys = new Set<string>()
    cache.on('commit', ({ key }) => keys.add(key))
    use(['', cached()], ['', cached()], ['', handler])
    await ask('/a', '/a')
    expect([runs, keys.size]).toEqual([1, 2])
  })

  test('distinguishes URLs that an outer layer rewrote', async () => {
    const rewrite: NodeMiddleware = (req, _res, next) => {
      req.url = `/${String(req.headers['accept-language'])}${req.url}`
      next()
    }
    use(['', rewrite], ['', cached()], ['', handler])
    const [de, en] = ['de', 'en'].map((language) => ({ path: '/a', headers: { 'accept-language': language } }))
    expect(await ask(de ?? '', en ?? '', de ?? '')).toEqual(['/de/a of /a', '/en/a of /a', '/de/a of /a'])
    expect(runs).toBe(2)
  })

  test('shows its handler the URL without unkeyed parameters', async () => {
    use(['/shop', cached({ query: ['page'] })], ['/shop', handler])
    expect(await ask('/shop/a?utm=1&page=2')).toEqual(['/a?page=2 of /shop/a?page=2'])
  })

  test('shows its handler the parameters in the order of the key, and outer layers the real one at the end', async () => {
    const logged: unknown[] = []
    const log: NodeMiddleware = (req: IncomingMessage & { readonly originalUrl?: string }, res, next) => {
      res.once('finish', () => logged.push(req.url, req.originalUrl))
      next()
    }
    use(['', log], ['/shop', cached({ query: ['page', 'by'] })], ['/shop', handler])
    expect(await ask('/shop/a?page=2&by=id')).toEqual(['/a?by=id&page=2 of /shop/a?by=id&page=2'])
    expect(logged).toEqual(['/a?page=2&by=id', '/shop/a?page=2&by=id'])
  })

  test('takes an absolute target as its path, and bypasses the cache inside a mount point', async () => {
    use(['/in', cached()], ['/in', handler], ['', cached()], ['', handler])
    const path = 'http://shop.example/a'
    expect(await ask({ path }, '/a')).toEqual(['/a of /a', '/a of /a'])
    const inside = 'http://shop.example/in/a'
    expect(await ask({ path: inside })).toEqual([`${path} of ${inside}`])
    expect(await ask('/in/a')).toEqual(['/a of /in/a'])
  })

  test.each<[string, RouteOptions<IncomingMessage, ServerResponse>, OutgoingHttpHeaders]>([
    ['has no key', { key: { extra: fails } }, {}],
    ['is not to be stored', { clientDirectives: () => true }, { 'cache-control': 'no-store' }],
  ])('shows the handler of a request that %s an absolute target as it came', async (_, options, headers) => {
    use(['', cached(options)], ['', handler])
    const path = 'http://shop.example/a'
    expect(await ask({ path, headers })).toEqual([`${path} of ${path}`])
  })

  test.each<[string, KeyOptions<IncomingMessage>]>([
    ['fields', { headers: ['x-api-key'] }],
    ['cookies', { cookies: ['session'] }],
    ['an extra text', { extra: ({ headers }) => String(headers['x-api-key']) }],
  ])('remembers no key with %s of its client, which may be secret', async (_, key) => {
    const route = compileRoute<IncomingMessage, ServerResponse>('cached', http, undefined, { ttl: '1h', key })
    use(['', (req, res, next) => serve(new AppExchange(req, res, next, 1), route)], ['', handler])
    const [one, other] = ['one', 'other'].map((secret) => ({
      path: '/a',
      headers: { 'x-api-key': secret, cookie: `session=${secret}` },
    }))
    await ask(one ?? '', one ?? '', other ?? '')
    expect([runs, route.keys.size.keys]).toEqual([2, 0])
  })

  test('observes a request that would bypass the cache without its unkeyed parameters', async () => {
    const targets: unknown[] = []
    const note = (observed: unknown): void => void targets.push((observed as { readonly target: string }).target)
    subscribe('cattlegrid:observe', note)
    use(['', cached({ mode: 'observe', query: ['page'], skip: () => true })], ['', handler])
    await ask('/a?utm=1&page=2', { path: 'http://shop.example/a?utm=1' })
    unsubscribe('cattlegrid:observe', note)
    expect(targets).toEqual(['/a?page=2', '/a'])
  })

  test('trusts no forwarded field', async () => {
    use(['', cached()], ['', handler])
    await ask('/a', { path: '/a', headers: { 'x-forwarded-host': 'other.example', 'x-forwarded-proto': 'https' } })
    expect(runs).toBe(1)
  })
})

describe('the purge middleware', () => {
  const purge = { method: 'POST', path: '/purge?tag=all' }

  test('purges what authorize lets it', async () => {
    const authorize = ({ headers }: IncomingMessage): boolean => headers['x-purger'] === 'yes'
    use(['/purge', purgeMiddleware(http, { authorize })], ['', cached({ tags: ['all'] })], ['', handler])
    const responses = await ask('/a', purge, '/a', { ...purge, headers: { 'x-purger': 'yes' } }, '/a')
    expect([responses[1], responses[3], runs]).toEqual(['403', '204', 2])
  })

  test('passes an error to the framework', async () => {
    use(['', purgeMiddleware(http, { authorize: () => true })])
    await cache.close()
    expect(await ask(purge)).toEqual([expect.stringMatching('closed')])
  })
})
