import { Readable } from 'node:stream'
import { createGzip, gunzipSync } from 'node:zlib'
import { bodyParser } from '@koa/bodyparser'
import cors from '@koa/cors'
import type { Context, Middleware } from 'koa'
import compress from 'koa-compress'
import helmet from 'koa-helmet'
import session from 'koa-session'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { textOf, type WireAnswer } from '../../../test/wire.ts'
import { Site } from './site.ts'

let site: Site
let runs: number
beforeEach(() => {
  site = new Site()
  runs = 0
})
afterEach(() => site.close())

const text = 'a gate and a grid, '.repeat(200)

const page: Middleware = (ctx) => {
  ctx.body = { run: (runs += 1), text }
}

const runOf = (answer: WireAnswer): unknown => (JSON.parse(textOf(answer)) as { readonly run: unknown }).run

describe('layers outside the cache', () => {
  test('compress each response from one stored body, which has no coding', async () => {
    const get = await site.start(compress({ threshold: 100 }), site.cached({ ttl: '1m' }), page)
    const plain = await get({ headers: { 'accept-encoding': 'identity' } })
    for (const _ of [1, 2]) {
      const { headers, body } = await get({ headers: { 'accept-encoding': 'gzip' } })
      expect([headers['content-encoding'], gunzipSync(body).toString()]).toEqual(['gzip', textOf(plain)])
    }
    expect([runs, plain.headers['content-encoding']]).toEqual([1, undefined])
  })

  test('set their fields on each response, before and after the rest: none is stored', async () => {
    let requests = 0
    const ids: Middleware = async (ctx, next) => {
      ctx.set('x-before', String((requests += 1)))
      await next()
      ctx.set('x-after', String(requests))
    }
    const get = await site.start(ids, helmet(), cors({ origin: '*' }), bodyParser(), site.cached({ ttl: '1m' }), page)
    for (const request of ['1', '2']) {
      const { headers } = await get({ headers: { origin: 'https://a.example' } })
      expect(headers).toMatchObject({
        'x-before': request,
        'x-after': request,
        'x-content-type-options': 'nosniff',
        'access-control-allow-origin': '*',
      })
    }
    expect(runs).toBe(1)
  })

  test('personalise what the cache shares: nobody gets the other’s', async () => {
    const greet: Middleware = async (ctx, next) => {
      await next()
      ctx.body = `${ctx.get('x-user')}: ${String(ctx.body)}`
    }
    const get = await site.start(greet, site.cached({ ttl: '1m' }), page)
    for (const user of ['ann', 'ben', 'ann'])
      expect(textOf(await get({ headers: { 'x-user': user } }))).toBe(`${user}: {"run":1,"text":"${text}"}`)
  })

  test('that set a cookie afterwards keep the response from being stored', async () => {
    const visits: Middleware = async (ctx, next) => {
      await next()
      ctx['session'] = { visits: 1 }
    }
    const get = await site.start(session(site.app), visits, site.cached({ ttl: '1m' }), page)
    for (const run of [1, 2]) expect(runOf(await get())).toBe(run)
  })

  test('that refuse a request do so while the entry is fresh', async () => {
    const login: Middleware = async (ctx, next) => {
      if (ctx.get('x-user') !== 'ann') ctx.throw(401)
      await next()
    }
    const get = await site.start(login, site.cached({ ttl: '1m' }), page)
    await get({ headers: { 'x-user': 'ann' } })
    expect((await get()).status).toBe(401)
  })
})

describe('an error', () => {
  const asJson: Middleware = async (ctx, next) => {
    try {
      await next()
    } catch (error) {
      const { status = 500 } = error as { readonly status?: number }
      ctx.status = status
      ctx.body = { error: status }
    }
  }

  test('goes to the layers outside, and then the 503 of the cooldown does', async () => {
    const broken: Middleware = (ctx) => {
      runs += 1
      ctx.throw(502)
    }
    const get = await site.start(asJson, site.cached({ ttl: '1m', failureCooldown: { min: '1m', max: '1m' } }), broken)
    for (const status of [502, 503]) {
      const answer = await get()
      expect([answer.status, textOf(answer)]).toEqual([status, `{"error":${status}}`])
    }
    expect(runs).toBe(1)
  })

  test('goes to Koa where no layer handles it, and to the app’s listeners', async () => {
    const get = await site.start(site.cached({ ttl: '1m' }), () => {
      throw new Error('no database')
    })
    const answer = await get()
    expect([answer.status, textOf(answer), site.errors]).toEqual([
      500,
      'Internal Server Error',
      [expect.objectContaining({ message: 'no database' })],
    ])
  })

  test('is replaced by the stale response, and a 404 is stored as the layers outside have worded it', async () => {
    const failing: Middleware = (ctx) => {
      runs += 1
      if (ctx.get('x-missing') !== '') ctx.throw(404)
      if (runs > 1) ctx.throw(500)
      ctx.body = 'one'
    }
    const options = { ttl: '10s', negativeTtl: '5s', staleIfError: '10m', key: { headers: ['x-missing'] } } as const
    const get = await site.start(asJson, site.cached(options), failing)
    await get()
    await site.runtime.advance(11_000)
    expect([textOf(await get()), runs]).toEqual(['one', 2])
    for (const _ of [1, 2]) expect(textOf(await get({ headers: { 'x-missing': '1' } }))).toBe('{"error":404}')
    expect(runs).toBe(3)
  })
})

describe('a body', () => {
  const bodies: readonly (readonly [string, () => unknown, string])[] = [
    ['text', () => 'one', 'one'],
    ['bytes', () => Buffer.from('one'), 'one'],
    ['an object', () => ({ toJSON: () => 'one' }), '"one"'],
    ['a stream', () => Readable.from([Buffer.from('o'), Buffer.from('ne')]), 'one'],
    ['a web stream', () => new Blob(['one']).stream(), 'one'],
    ['a blob', () => new Blob(['one']), 'one'],
    ['a web response', () => new Response('one', { headers: { 'x-kind': 'web' } }), 'one'],
  ]
  test.each(bodies)('that is %s is served from the cache as it was sent', async (_, bodyOf, sent) => {
    const get = await site.start(site.cached({ ttl: '1m' }), (ctx) => {
      runs += 1
      ctx.body = bodyOf()
    })
    const stored = site.next('commit')
    const first = await get()
    await stored
    const second = await get()
    expect([textOf(first), textOf(second), runs]).toEqual([sent, sent, 1])
    expect(second.headers['content-type']).toBe(first.headers['content-type'])
    expect(second.headers['x-kind']).toBe(first.headers['x-kind'])
  })

  test('that a layer inside encodes is stored encoded', async () => {
    const get = await site.start(site.cached({ ttl: '1m' }), (ctx) => {
      runs += 1
      ctx.set('content-encoding', 'gzip')
      ctx.vary('accept-encoding')
      ctx.body = Readable.from([Buffer.from(text)]).pipe(createGzip())
    })
    for (const _ of [1, 2])
      expect(gunzipSync((await get({ headers: { 'accept-encoding': 'gzip' } })).body).toString()).toBe(text)
  })
})

describe('what a handler reads of its client', () => {
  const reads: readonly (readonly [string, (ctx: Context) => unknown])[] = [
    ['ctx.state.user', (ctx) => ctx.state['user']],
    ['ctx.session', (ctx) => ctx['session']],
    ['ctx.cookies', (ctx) => ctx.cookies.get('name')],
    ['ctx.get("cookie")', (ctx) => ctx.get('cookie')],
  ]
  test.each(reads)('%s makes the response its client’s own', async (_, read) => {
    const login: Middleware = async (ctx, next) => {
      ctx.state['user'] = ctx.get('x-user')
      await next()
    }
    const get = await site.start(login, session(site.app), site.cached({ ttl: '1m' }), (ctx) => {
      ctx.body = `run ${(runs += 1)} for ${String(read(ctx))}`
    })
    for (const run of [1, 2]) {
      const answer = await get({ headers: { 'x-user': 'ann', cookie: 'name=ann' } })
      expect([textOf(answer).split(' for')[0], answer.headers['cache-status']]).toEqual([
        `run ${run}`,
        'c; fwd=uri-miss; detail=personal',
      ])
    }
  })
})
