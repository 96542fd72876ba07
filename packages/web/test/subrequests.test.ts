import { createCache } from '@cattlegrid/core'
import { astroCache } from '@cattlegrid/web/astro'
import { honoCache } from '@cattlegrid/web/hono'
import { cachedHandle } from '@cattlegrid/web/sveltekit'
import { describe, expect, it, jest } from '@jest/globals'
import { until } from '../../../test/support/until.ts'

const cache = createCache()

/** Places where the cache has no way to make requests of its own. */
const places: Readonly<Record<string, (options: object) => unknown>> = {
  'astroCache, for all pages': (options) => astroCache(cache, options),
  'astroCache, for a path': (options) => astroCache(cache, { paths: { '/': options } }),
  'cachedHandle, for a route': (options) => cachedHandle({ cache, routes: { '/': options } }),
  'honoCache without app': (options) => honoCache(cache, options),
  'cached() of honoCache without app': (options) => honoCache(cache)(options),
}

describe.each(Object.entries(places))('%s', (_name, declare) => {
  it('refuses an audit and a refresh behind, which need a request of the cache’s own', () => {
    expect(() => declare({ audit: { rate: 1 } })).toThrow(/audit/)
    expect(() => declare({ refresh: 'behind' })).toThrow(/refresh/)
  })

  it('takes what needs none', () => {
    expect(declare({ audit: false, refresh: 'inline' })).toBeDefined()
  })
})

it('in development, a page of Astro is stored without a word of an audit', async () => {
  const { NODE_ENV } = process.env
  process.env['NODE_ENV'] = 'development'
  const warned = jest.spyOn(process, 'emitWarning')
  try {
    const { onRequest } = astroCache(createCache(), { cacheStatus: true, paths: { '/': { ttl: '1m' } } })()
    const isHit = async (): Promise<boolean> => {
      const { headers } = await onRequest(
        { request: new Request('http://shop.test/') },
        async () => new Response('a page'),
      )
      return headers.get('cache-status')?.includes('; hit') === true
    }
    await until(isHit)
    expect(warned).not.toHaveBeenCalled()
  } finally {
    warned.mockRestore()
    process.env['NODE_ENV'] = NODE_ENV
  }
})
