import { describe, expect, test } from '@jest/globals'
import type { ErrorRequestHandler, RequestHandler } from 'express'
import { onSite } from './support/site.ts'

const REFUSED = ['Cache-Control', 'max-age=3600', 'X-Bad', '\u0001']

const errorPage: ErrorRequestHandler = (_error, _req, res, _next) => void res.status(500).end('broken')

/** A layer outside that throws at the first head. */
const refuseOnce: RequestHandler = (_req, res, next) => {
  const writeHead = res.writeHead.bind(res) as (...args: unknown[]) => typeof res
  let refused = false
  res.writeHead = ((...args: unknown[]) => {
    if (refused) return writeHead(...args)
    refused = true
    throw new Error('refused')
  }) as typeof res.writeHead
  next()
}

describe('a head that is refused', () => {
  test('by Node leaves none of its fields to the error page, where Cache-Status was added to it', async () => {
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

  test('as a 304 leaves the fields of its handler in their places', async () => {
    await onSite(
      (app, cached) => {
        app.use(refuseOnce)
        app.get('/a', cached({ ttl: '1m' }), (_req, res, next) => {
          res.set({ ETag: '"1"', 'Content-Language': 'en' })
          try {
            res.end('one')
          } catch (error) {
            next(error)
          }
        })
        app.use(errorPage)
      },
      async (site) => {
        const { status, headers, text } = await site.get('/a').set('If-None-Match', '"1"')
        expect([status, headers['content-language'], text]).toEqual([500, 'en', 'broken'])
      },
    )
  })
})
