import { createCache } from '@cattlegrid/core'
import { astroCache, type AstroCacheOptions } from '@cattlegrid/web/astro'
import { describe, expect, it } from '@jest/globals'

const cache = createCache()
/** Longer than a tag may be. */
const LONG = `/${'long'.repeat(100)}`
const provider = (): ReturnType<ReturnType<typeof astroCache>> => astroCache(cache)()

describe('astroCache', () => {
  it.each<[name: string, options: AstroCacheOptions, message: string]>([
    ['a ttl without paths, which would store every page', { ttl: '1m' }, 'astroCache: ttl'],
    ['a host in the key, which the URL of a page does not have', { key: { host: 'shop.test' } }, 'key.host'],
    ['a path that is none', { paths: { products: { ttl: '1m' } } }, 'astroCache: paths'],
    ['a pattern of routeRules', { paths: { '/products/[id]': { ttl: '1m' } } }, 'astroCache: paths'],
    ['a star in the middle', { paths: { '/products/*/reviews': { ttl: '1m' } } }, 'astroCache: paths'],
    ['a path that no URL has', { paths: { '/café/*': { ttl: '1m' } } }, 'astroCache: paths'],
    ['a path with a query', { paths: { '/a?b=1': { ttl: '1m' } } }, 'astroCache: paths'],
    ['an option of another host', { tagHeader: 'x-tags' } as object, 'astroCache: tagHeader'],
    ['an option of a path that is unknown', { paths: { '/': { tll: '1m' } as object } }, 'tll'],
  ])('refuses %s', (_name, options, message) => {
    expect(() => astroCache(cache, options)).toThrow(message)
  })

  it('runs the page once for requests at once to a path of paths, the longest that fits', async () => {
    let runs = 0
    const paths = {
      '/products/*': { ttl: '1m' },
      '/products/new/*': { ttl: '2m' },
      '/products': { ttl: '3m' },
    } as const
    const { onRequest } = astroCache(cache, { cacheStatus: true, paths })()
    const get = async (path: string): Promise<string> => {
      const request = new Request(`http://shop.test${path}`)
      const response = await onRequest({ request }, async () => new Response(`run ${(runs += 1)}`))
      return `${await response.text()} ${response.headers.get('cache-status')?.split('; ').at(-1)}`
    }
    const all = await Promise.all(['/products/7', '/products/7', '/products/new/8', '/products'].map(get))
    expect(all).toEqual(['run 1 ttl=60', expect.stringContaining('run 1'), 'run 2 ttl=120', 'run 3 ttl=180'])
  })
})

it.each([
  ['is not stored', undefined, ['run 1', 'run 2']],
  ['is stored where the options say that all cookies which pages read are in the key', ['cookie'], ['run 1', 'run 1']],
])('with a cookie in the key, a page that reads cookies %s', async (_name, allowReads, bodies) => {
  const { onRequest } = astroCache(createCache(), {
    key: { cookies: ['theme'] },
    paths: { '/*': { ttl: '1m' } },
    allowReads,
  })()
  let runs = 0
  const get = async (): Promise<string> => {
    const request = new Request('http://shop.test/page', { headers: { cookie: 'theme=dark' } })
    const next = async (): Promise<Response> => {
      request.headers.get('cookie')
      return new Response(`run ${(runs += 1)}`)
    }
    return await (await onRequest({ request }, next)).text()
  }
  expect([await get(), await get()]).toEqual(bodies)
})

describe('what a page declares', () => {
  it("is told by Astro's own fields", () => {
    const lastModified = new Date('2026-01-02T03:04:05Z')
    const { setHeaders } = provider()
    expect([...setHeaders({ maxAge: 30, swr: 300, tags: ['a', 'b'], lastModified, etag: '"1"' })]).toEqual([
      ['cache-tag', 'a, b'],
      ['cdn-cache-control', 'max-age=30, stale-while-revalidate=300'],
      ['etag', '"1"'],
      ['last-modified', 'Fri, 02 Jan 2026 03:04:05 GMT'],
    ])
    expect([...setHeaders({ tags: ['a, b', '日本', '\uD800'] })]).toEqual([
      ['cache-tag', 'a%2C%20b, %E6%97%A5%E6%9C%AC, %EF%BF%BD'],
    ])
    expect([...setHeaders({ maxAge: 1.5 })]).toEqual([['cdn-cache-control', 'max-age=1']])
  })

  it.each([
    ['/u/caf%C3%A9', '/u/café'],
    ['/u/caf%c3%a9', '/u/caf%C3%A9'],
    ['/u/a%20b', '/u/a b'],
    ['/u/a/', '/u/a'],
    ['/u//double', '/u/double'],
    ['/u/page?page=2', '/u/page'],
    ['/u/%zz', '/u/%zz'],
    [LONG, LONG],
  ])('of %s is found by an invalidation of %s', async (path, invalidated) => {
    const { onRequest, setHeaders, invalidate } = provider()
    let runs = 0
    const get = async (): Promise<string> => {
      const next = async (): Promise<Response> =>
        new Response(`run ${(runs += 1)}`, { headers: setHeaders({ maxAge: 30 }) })
      return await (await onRequest({ request: new Request(`http://shop.test${path}`) }, next)).text()
    }
    expect([await get(), await get()]).toEqual(['run 1', 'run 1'])
    await invalidate({ path: invalidated })
    expect(await get()).toBe('run 2')
  })

  it('is not found by what is no path, nor are options taken from astro.config', async () => {
    await expect(provider().invalidate({ path: 'products' })).rejects.toThrow(/invalidate: path/)
    expect(() => astroCache(cache)({ paths: {} })).toThrow(/cache.provider.config/)
  })
})
