import { request } from 'node:http'
import { Readable } from 'node:stream'
import type { Middleware } from 'koa'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { until } from '../../../test/support/until.ts'
import { ask, textOf } from '../../../test/wire.ts'
import { Site } from './site.ts'

let site: Site
let runs: number
beforeEach(() => {
  site = new Site()
  runs = 0
})
afterEach(() => site.close())

const page: Middleware = (ctx) => {
  ctx.body = `run ${(runs += 1)}`
}

describe('a request', () => {
  test('that leaves while it waits ends its layers outside, and its leader’s response is stored', async () => {
    let open = (): void => undefined
    const opened = new Promise<void>((resolve) => (open = resolve))
    let ended = 0
    const outer: Middleware = async (_ctx, next) => {
      await next()
      ended += 1
    }
    const slow: Middleware = async (ctx) => {
      await opened
      ctx.body = `run ${(runs += 1)}`
    }
    const get = await site.start(outer, site.cached({ ttl: '1m' }), slow)
    const loading = site.next('load')
    const joined = site.next('join')
    const leader = get()
    await loading
    const follower = request({ port: site.port, path: '/page', headers: { host: 'shop' } }).on('error', () => undefined)
    follower.end()
    await joined
    follower.destroy()
    await until(() => ended === 1)
    open()
    expect(textOf(await leader)).toBe('run 1')
    expect([textOf(await get()), ended]).toEqual(['run 1', 3])
  })

  test('whose parameter is not in the key hides it from the handler, wherever Koa shows the URL', async () => {
    let seen: unknown
    await site.start(site.cached({ ttl: '1m', query: ['page'] }), (ctx) => {
      seen = [ctx.url, ctx.originalUrl, ctx.request.originalUrl, ctx.href.split('/page')[1], { ...ctx.query }]
      ctx.body = 'one'
    })
    await ask(site.port, '/page?utm=1&page=2')
    expect(seen).toEqual(['/page?page=2', '/page?page=2', '/page?page=2', '?page=2', { page: '2' }])
  })

  test('for which no answer is left gets its handler’s 504 as an error of Koa, also when that has returned', async () => {
    const get = await site.start(site.cached({ ttl: '1m', loadTimeout: '3s' }), (ctx) => {
      ctx.respond = false
    })
    const loading = site.next('load')
    const answer = get()
    await loading
    await new Promise(setImmediate)
    await site.runtime.advance(3001)
    expect((await answer).status).toBe(504)
  })

  test('by HEAD is answered from the entry of GET, and the entry is refreshed behind a stale response', async () => {
    const get = await site.start(site.cached({ ttl: '10s', staleWhileRevalidate: '1m' }), page)
    const head = await get({ method: 'HEAD' })
    expect([head.status, textOf(head), runs]).toEqual([200, '', 1])
    expect(textOf(await get())).toBe('run 1')
    await site.runtime.advance(11_000)
    const refreshed = site.next('commit')
    expect(textOf(await get())).toBe('run 1')
    await refreshed
    expect(textOf(await get())).toBe('run 2')
  })

  test('that leaves while layers outside have its response completes the entry', async () => {
    let open = (): void => undefined
    const opened = new Promise<void>((resolve) => (open = resolve))
    const slow: Middleware = async (_ctx, next) => {
      await next()
      await opened
    }
    const get = await site.start(slow, site.cached({ ttl: '1m' }), page)
    const leader = request({ port: site.port, path: '/page', headers: { host: 'shop' } }).on('error', () => undefined)
    leader.end()
    await until(() => runs === 1)
    const stored = site.next('commit')
    leader.destroy()
    await stored
    open()
    expect([textOf(await get()), runs]).toEqual(['run 1', 1])
  })
})

describe('a layer outside that sends another response than the handler’s', () => {
  const others: readonly (readonly [string, Middleware])[] = [
    [
      'of another status',
      async (ctx, next) => {
        await next()
        ctx.status = 203
      },
    ],
    [
      'by an error',
      async (ctx, next) => {
        await next()
        ctx.throw(500)
      },
    ],
    [
      'of another body than the stream',
      async (ctx, next) => {
        await next()
        ctx.body = 'other'
      },
    ],
  ]
  test.each(others)('%s keeps both from being stored', async (_, other) => {
    const get = await site.start(other, site.cached({ ttl: '1m' }), (ctx) => {
      ctx.body = Readable.from([`run ${(runs += 1)}`, 'x'.repeat(100_000)])
    })
    for (const run of [1, 2]) {
      await get()
      expect(runs).toBe(run)
    }
  })
})
