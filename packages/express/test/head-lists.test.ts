import { describe, expect, test } from '@jest/globals'
import { onSite } from './support/site.ts'

const HEAD = ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'Cache-Status', 'Inner; hit']

describe('a head that is written as a flat list', () => {
  test.each([
    ['of a leader', 'get', 'cattlegrid; fwd=uri-miss; detail=set-cookie'],
    ['of a request past the cache', 'post', 'cattlegrid; fwd=method'],
  ] as const)('%s keeps every line of a field, beside Cache-Status', async (_, method, member) => {
    await onSite(
      (app, cached) => {
        app[method]('/a', cached({ ttl: '1m', cacheStatus: true }), (_req, res) => void res.writeHead(200, HEAD).end())
      },
      async ({ port }) => {
        const answer = await fetch(`http://127.0.0.1:${port}/a`, { method: method.toUpperCase() })
        expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
        expect(answer.headers.get('cache-status')).toBe(`Inner; hit, ${member}`)
      },
    )
  })

  test('repeats a field in the own answer of the handler as in the hits', async () => {
    await onSite(
      (app, cached) => {
        app.get(
          '/a',
          cached({ ttl: '1m' }),
          (_req, res) => void res.writeHead(200, ['Link', '<a>', 'Link', '<b>']).end(),
        )
      },
      async (site) => {
        const answers = [await site.get('/a'), await site.get('/a')]
        expect(answers.map(({ headers }) => headers['link'])).toEqual(['<a>, <b>', '<a>, <b>'])
        expect(answers.map(({ headers }) => headers['age'])).toEqual([undefined, '0'])
      },
    )
  })
})
