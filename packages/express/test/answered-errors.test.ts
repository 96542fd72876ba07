import { describe, expect, test } from '@jest/globals'
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express'
import express4 from 'express4'
import { onSite } from './support/site.ts'

const VERSIONS: readonly (readonly [string, () => Express])[] = [
  ['Express 5', express],
  ['Express 4', express4],
]

const FAILS: readonly (readonly [string, RequestHandler])[] = [
  ['passes an error on', (_req, _res, next) => next(new Error('no database'))],
  [
    'throws',
    () => {
      throw new Error('no database')
    },
  ],
]

describe.each(VERSIONS)('on %s', (_version, make) => {
  describe.each(FAILS)('a handler that %s', (_how, fail) => {
    test.each([200, 404])('is not stored where an error handler answers %i', async (status) => {
      let runs = 0
      const apologise: ErrorRequestHandler = (_error, _req, res, _next) => void res.status(status).send('sorry')
      await onSite(
        (app, cached) => {
          app.get('/a', cached({ ttl: '1m', failureCooldown: { min: 1, max: 1 } }), (req, res, next) => {
            runs += 1
            if (runs === 1) fail(req, res, next)
            else res.send('page')
          })
          app.use(apologise)
        },
        async (site) => {
          expect([(await site.get('/a')).text, await site.runtime.advance(1000)]).toEqual(['sorry', undefined])
          expect([(await site.get('/a')).text, runs]).toEqual(['page', 2])
        },
        {},
        make,
      )
    })
  })

  test('an error that names the status with which it is answered is stored as any answer of that status', async () => {
    let runs = 0
    await onSite(
      (app, cached) => {
        app.get('/a', cached({ ttl: '1m' }), (_req, _res, next) => {
          runs += 1
          next(Object.assign(new Error('not there'), { status: 404 }))
        })
        app.use(((_error, _req, res, _next) => void res.status(404).send('gone')) satisfies ErrorRequestHandler)
      },
      async (site) => {
        expect([(await site.get('/a')).status, (await site.get('/a')).status, runs]).toEqual([404, 404, 1])
      },
      {},
      make,
    )
  })

  test('an error of a layer outside, from which the app recovers, is none of the handler', async () => {
    let runs = 0
    await onSite(
      (app, cached) => {
        app.use((_req, _res, next) => next(new Error('no user')))
        app.use(((_error, _req, _res, next) => next()) satisfies ErrorRequestHandler)
        app.get('/a', cached({ ttl: '1m' }), (_req, res) => void res.send(`run ${(runs += 1)}`))
      },
      async (site) => {
        expect([(await site.get('/a')).text, (await site.get('/a')).text]).toEqual(['run 1', 'run 1'])
      },
      {},
      make,
    )
  })
})
