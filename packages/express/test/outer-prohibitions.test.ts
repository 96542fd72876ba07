import { describe, expect, test } from '@jest/globals'
import type { RequestHandler } from 'express'
import { onSite } from './support/site.ts'

const VALIDATED = { ttl: '1m', revalidate: true } as const

/** Adds a field at the last moment, while the head goes down. */
const lateField =
  (name: string, value: string): RequestHandler =>
  (_req, res, next) => {
    const writeHead = res.writeHead.bind(res) as (...args: unknown[]) => typeof res
    res.writeHead = ((...args: unknown[]) => {
      res.setHeader(name, value)
      return writeHead(...args)
    }) as typeof res.writeHead
    next()
  }

describe('a prohibition that only a layer outside sets', () => {
  test.each([
    ['no-cache, beside a validator', 'Cache-Control', 'no-cache', VALIDATED],
    ['no-store in a targeted field', 'CDN-Cache-Control', 'no-store', { ttl: '1m', targets: ['cdn-cache-control'] }],
    ['no-cache in a targeted field', 'CDN-Cache-Control', 'no-cache', { ...VALIDATED, targets: ['cdn-cache-control'] }],
  ] as const)('counts: %s', async (_, name, value, options) => {
    let runs = 0
    await onSite(
      (app, cached) => {
        app.use(lateField(name, value))
        app.get('/a', cached(options), (_req, res) => {
          runs += 1
          res.setHeader('ETag', `"${runs}"`)
          res.end(`run ${runs}`)
        })
      },
      async (site) => {
        expect((await site.get('/a')).text).toBe('run 1')
        expect((await site.get('/a')).text).toBe('run 2')
      },
    )
  })
})
