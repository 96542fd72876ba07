import { describe, expect, test } from '@jest/globals'
import type { Express } from 'express'
import type { Cached } from '../src/index.ts'
import { onSite } from './site.ts'

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
