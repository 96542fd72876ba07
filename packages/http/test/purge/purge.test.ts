import type { ServerResponse } from 'node:http'
import { type Cache, createCache, memoryStore } from '@cattlegrid/core'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { httpCache } from '../../src/route/http-cache.ts'
import { purgeEndpoint } from '../../src/purge/purge.ts'
import { urlTag } from '../../src/request/request-key.ts'

let cache: Cache
beforeEach(() => {
  cache = createCache({ ttl: '1h', store: memoryStore() })
})
afterEach(() => cache.close())

interface Asking {
  readonly user: string
}

const res = { headersSent: false } as ServerResponse

async function ask(target: string, user = 'me', method = 'POST', authorize?: (by: Asking) => boolean): Promise<number> {
  const endpoint = purgeEndpoint(httpCache(cache), { authorize: authorize ?? ((by: Asking) => by.user === 'me') })
  return (await endpoint({ request: { user }, res, method, target }))?.status ?? 0
}

describe('the purge endpoint', () => {
  test('does not exist without a word on who may use it', async () => {
    const endpoint = purgeEndpoint(httpCache(cache), {})
    expect(await endpoint({ request: {}, res, method: 'POST', target: '/purge?tag=a' })).toMatchObject({ status: 404 })
  })

  test('lets in only whom authorize answers true for', async () => {
    expect(await ask('/purge?tag=a')).toBe(204)
    expect(await ask('/purge?tag=a', 'eve')).toBe(403)
    const odd = 'yes' as unknown as boolean
    expect(await ask('/purge?tag=a', 'me', 'POST', () => odd)).toBe(403)
    const fails = (): never => {
      throw new Error('a bug')
    }
    expect(await ask('/purge?tag=a', 'me', 'POST', fails)).toBe(403)
  })

  test('is no place to read, and refuses what it does not understand', async () => {
    expect(await ask('/purge?tag=a', 'me', 'GET')).toBe(405)
    for (const target of ['', '?tag=', '?url=/relative', '?tag=a&url=nowhere', '?soft', '?tag=a&soft=no'].map(
      (query) => `/purge${query}`,
    ))
      expect([target, await ask(target)]).toEqual([target, 400])
  })

  test('says what it understands to a client that it lets in', async () => {
    const endpoint = purgeEndpoint(httpCache(cache), { authorize: () => true })
    const answer = await endpoint({ request: {}, res, method: 'POST', target: '/purge' })
    expect(String(answer?.body)).toMatch(/\?tag=/)
    expect(answer?.fields).toMatchObject({ 'content-length': String(answer?.body?.length) })
  })

  test('purges by tag and by URL, whatever the order of its parameters', async () => {
    const tag = urlTag({ scheme: 'https', host: 'shop.example', target: '/a?x=1&y=2' })
    await cache.set('by url', 1, { tags: [tag] })
    const hostless = urlTag({ scheme: 'https', host: '', target: '/a?x=1&y=2' })
    await cache.set('by url, without a host in its key', 1, { tags: [hostless] })
    await cache.set('by tag', 2, { tags: ['a b'] })
    await cache.set('neither', 3, { tags: ['c'] })
    const url = encodeURIComponent('https://shop.example:443/a?y=2&x=1')
    expect(await ask(`/purge?url=${url}&tag=a+b`)).toBe(204)
    expect(await cache.get('by url, without a host in its key')).toBeUndefined()
    expect([await cache.get('by url'), await cache.get('by tag'), await cache.get('neither')]).toEqual([
      undefined,
      undefined,
      3,
    ])
  })

  test('leaves what it purges softly as stale', async () => {
    await cache.set('by tag', 1, { tags: ['a'], staleWhileRevalidate: '1m' })
    for (const soft of ['soft', 'soft=', 'soft=1']) expect(await ask(`/purge?tag=a&${soft}`)).toBe(204)
    expect(await cache.read('by tag')).toMatchObject({ value: 1, state: 'stale' })
    expect(await ask('/purge?tag=a')).toBe(204)
    expect(await cache.read('by tag')).toBeUndefined()
  })
})
