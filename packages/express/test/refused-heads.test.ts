import { describe, expect, test } from '@jest/globals'
import type { ErrorRequestHandler } from 'express'
import { onSite } from './site.ts'

const REFUSED = ['Cache-Control', 'max-age=3600', 'X-Bad', '\u0001']

const errorPage: ErrorRequestHandler = (_error, _req, res, _next) => void res.status(500).end('broken')

describe('a head that Node refuses', () => {
  test('leaves none of its fields to the error page, where Cache-Status was added to it', async () => {
    await onSite(
      (app, cached) => {
        app.get('/a', cached({ ttl: '1m', cacheStatus: true }), (_req, res) => {
          res.setHeader('Vary', 'Accept-Language')
          res.writeHead(200, [...REFUSED, 'Vary', 'Accept'])
        })
        app.use(errorPage)
      },
      async (site) => {
        const { status, headers, text } = await site.get('/a')
        expect([status, text]).toEqual([500, 'broken'])
        expect(headers['cache-control']).toBeUndefined()
        expect(headers['vary']).toBe('Accept-Language')
      },
    )
  })
})
