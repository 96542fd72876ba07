import { describe, expect, test } from '@jest/globals'
import type { Express } from 'express'
import type { Cached } from '../src/index.ts'
import { onSite } from './support/site.ts'

/** Confirms its stored response, and gives the client of that request a new session. */
function rotating(app: Express, cached: Cached, unsafeStripSetCookie: boolean): void {
  let runs = 0
  app.get('/a', cached({ ttl: '1m', revalidate: true, strip: ['x-own'], unsafeStripSetCookie }), (req, res) => {
    runs += 1
    if (req.headers['if-none-match'] === undefined) return void res.setHeader('ETag', '"1"').end('one')
    res.writeHead(304, { 'Set-Cookie': `session=${runs}`, 'X-Own': String(runs), Connection: 'close' })
    return void res.end()
  })
}

describe('a 304 that confirms a stored response, with fields that are not stored', () => {
  test.each([
    ['is not stored', false],
    ['is stored without them', true],
  ])('has them for its own client, and for nobody else, where it %s', async (_, strips) => {
    await onSite(
      (app, cached) => rotating(app, cached, strips),
      async (site) => {
        await site.get('/a')
        await site.runtime.advance(61_000)
        const answers = [...(await site.crowd(5, '/a')), await site.get('/a')]
        expect(answers.map(({ status, text }) => [status, text])).toEqual(answers.map(() => [200, 'one']))
        const own = answers.map(({ headers }) => [headers['set-cookie'], headers['x-own']])
        expect(own.filter(([cookie]) => cookie !== undefined)).toEqual([[['session=2'], '2']])
        expect(own.filter(([, field]) => field !== undefined)).toHaveLength(1)
      },
    )
  })

  test('has its cookie also where its client has the response already', async () => {
    await onSite(
      (app, cached) => rotating(app, cached, false),
      async (site) => {
        await site.get('/a')
        await site.runtime.advance(61_000)
        const { status, headers } = await site.get('/a').set('If-None-Match', '"1"')
        expect([status, headers['set-cookie']]).toEqual([304, ['session=2']])
      },
    )
  })
})

test('a layer outside sees no conditions of the cache when the head of the response passes it', async () => {
  const seen: unknown[] = []
  let runs = 0
  await onSite(
    (app, cached) => {
      app.use((req, res, next) => {
        const writeHead = res.writeHead.bind(res) as (...args: unknown[]) => typeof res
        res.writeHead = ((...args: unknown[]) => {
          seen.push(req.headers['if-none-match'], req.headersDistinct['if-none-match'])
          return writeHead(...args)
        }) as typeof res.writeHead
        next()
      })
      app.get('/a', cached({ ttl: '1m', revalidate: true }), (req, res) => {
        runs += 1
        expect(req.get('if-none-match')).toBe(runs === 1 ? undefined : '"1"')
        if (runs === 4) Object.freeze(req.headers)
        res.status(runs === 2 ? 304 : 200)
        res.set('ETag', '"1"').end()
      })
    },
    async ({ get, runtime }) => {
      for (let turn = 0; turn < 4; turn += 1) {
        expect((await get('/a')).status).toBe(200)
        await runtime.advance(61_000)
      }
      expect(seen.slice(0, 6)).toEqual(Array.from({ length: 6 }))
      expect(runs).toBe(4)
    },
  )
})

test('what the inside removes from every response stays removed when a 304 confirms the stored one; fields of its content stay', async () => {
  await onSite(
    (app, cached) => {
      app.use((_req, res, next) => {
        res.set({ 'Content-Encoding': 'identity', 'Content-Language': 'de' })
        next()
      })
      app.get('/a', cached({ ttl: '1m', revalidate: true }), (req, res) => {
        res.removeHeader('x-powered-by')
        res.removeHeader('content-language')
        res.set('ETag', '"1"')
        if (req.get('if-none-match') === undefined) return void res.end('one')
        res.removeHeader('content-encoding')
        return void res.status(304).end()
      })
    },
    async ({ get, runtime }) => {
      for (let turn = 0; turn < 3; turn += 1) {
        const { headers, text } = await get('/a')
        expect([text, headers['content-encoding']]).toEqual(['one', 'identity'])
        expect([headers['x-powered-by'], headers['content-language']]).toEqual([undefined, undefined])
        if (turn < 1) await runtime.advance(61_000)
      }
    },
  )
})
