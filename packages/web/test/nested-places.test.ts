import { createCache } from '@cattlegrid/core'
import { describe, expect, test } from '@jest/globals'
import { type Context, Hono } from 'hono'
import { getCookie } from 'hono/cookie'
import { honoCache, type HonoRouteOptions } from '../src/hono.ts'

/** A cached place outside of another one, and a handler that counts its runs. */
function nested(inner: HonoRouteOptions, page: (c: Context) => string) {
  const app = new Hono()
  const cached = honoCache(createCache(), { app: () => app })
  let runs = 0
  app.use(cached({ ttl: '1m' }))
  app.get('/page', cached({ ttl: '1m', ...inner }), (c) => {
    runs += 1
    return c.text(page(c))
  })
  const get = async (cookie?: string): Promise<string> => {
    const headers = cookie === undefined ? {} : { cookie }
    return await (await app.fetch(new Request('http://shop.test/page', { headers }))).text()
  }
  return { get, runs: () => runs }
}

describe('a place outside of another one', () => {
  test('does not store what the key of the inner one holds, and its own does not', async () => {
    const { get } = nested({ key: { cookies: ['theme'] } }, (c) => getCookie(c, 'theme') ?? 'light')
    expect([await get(), await get('theme=dark'), await get(), await get('theme=dark')]).toEqual([
      'light',
      'dark',
      'light',
      'dark',
    ])
  })

  test('does not store a page whose handler has read who its client is', async () => {
    const { get, runs } = nested({}, (c) => getCookie(c, 'user') ?? 'nobody')
    expect([await get('user=ann'), await get('user=bob'), await get()]).toEqual(['ann', 'bob', 'nobody'])
    expect(runs()).toBe(3)
  })

  test('does not store what a place without a ttl inside has read of its client', async () => {
    const app = new Hono()
    const cached = honoCache(createCache(), { app: () => app })
    app.get('/page', cached({ ttl: '1m' }), cached(), (c) => c.text(c.req.header('x-user-id') ?? 'nobody'))
    const get = async (user: string): Promise<string> =>
      await (await app.fetch(new Request('http://shop.test/page', { headers: { 'x-user-id': user } }))).text()
    expect([await get('ann'), await get('bob')]).toEqual(['ann', 'bob'])
  })

  test('stores the page of a client with a cookie that nobody reads', async () => {
    const { get, runs } = nested({}, () => 'page')
    expect([await get('user=ann'), await get('user=bob'), runs()]).toEqual(['page', 'page', 1])
  })
})
