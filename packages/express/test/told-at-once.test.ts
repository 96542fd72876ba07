import type { ServerResponse } from 'node:http'
import { describe, expect, test } from '@jest/globals'
import { onSite } from './support/site.ts'

const cache = { ttl: '1m', cacheStatus: true, maxBodyBytes: 10 } as const

const send =
  (body: string, fields: Readonly<Record<string, string>>) =>
  (_req: unknown, res: ServerResponse): void => {
    for (const [name, value] of Object.entries(fields)) res.setHeader(name, value)
    res.end(body)
  }

describe('a whole answer that is not stored in the end says why when it begins', () => {
  test.each([
    ['shorter than it declares', 'abc', { 'content-length': '5' }, 'fwd=uri-miss; detail=incomplete'],
    ['as long as it declares', 'abc', { 'content-length': '3' }, 'fwd=uri-miss; stored; ttl=60'],
    ['too large', 'abcdefghijk', {}, 'fwd=uri-miss; detail=too-large'],
    ['private', 'abc', { 'cache-control': 'private' }, 'fwd=uri-miss; detail=private'],
  ])('%s', async (_, body, fields, told) => {
    await onSite(
      (app, cached) => void app.get('/a', cached(cache), send(body, fields)),
      async ({ port }) => {
        const { headers, body: stream } = await fetch(`http://127.0.0.1:${port}/a`)
        expect(headers.get('cache-status')).toBe(`cattlegrid; ${told}`)
        await stream?.cancel()
      },
    )
  })

  test('what is made while its key is uncacheable is not said to be stored; what is made afterwards is', async () => {
    let cookies = true
    await onSite(
      (app, cached) =>
        void app.get('/a', cached(cache), (_req, res) => {
          if (cookies) res.setHeader('set-cookie', 'a=1')
          res.end('abc')
        }),
      async ({ port, cache: engine }) => {
        const told = async (): Promise<string | null> => {
          const { headers } = await fetch(`http://127.0.0.1:${port}/a`)
          return headers.get('cache-status')
        }
        expect(await told()).toBe('cattlegrid; fwd=uri-miss; detail=set-cookie')
        cookies = false
        expect(await told()).toBe('cattlegrid; fwd=uri-miss; detail=unleased')
        const committed = new Promise<void>((resolve) => void engine.on('commit', () => resolve()))
        expect(await told()).toBe('cattlegrid; fwd=uri-miss; stored; ttl=60')
        await committed
        expect(await told()).toBe('cattlegrid; hit; ttl=60')
      },
    )
  })
})
