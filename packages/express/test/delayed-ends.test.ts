import { describe, expect, test } from '@jest/globals'
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express'
import express4 from 'express4'
import { onSite } from './support/site.ts'

type AnyMethod = (...args: unknown[]) => unknown

/** Replaces a method of the response as middleware does; `replacement` is given the method as it was. */
const wrapping =
  (name: 'end' | 'writeHead', replacement: (method: AnyMethod, args: unknown[]) => unknown): RequestHandler =>
  (_req, res, next) => {
    const method = res[name].bind(res) as AnyMethod
    Reflect.set(res, name, (...args: unknown[]) => replacement(method, args) ?? res)
    next()
  }

/** A layer that names itself in the head. */
const naming =
  (name: string): RequestHandler =>
  (req, res, next) =>
    wrapping('writeHead', (writeHead, args) => {
      res.setHeader(name, 'yes')
      return writeHead(...args)
    })(req, res, next)

/** As a session that is saved first. */
const delaying = wrapping('end', (end, args) => void setImmediate(() => end(...args)))

describe.each([
  ['Express 5', express],
  ['Express 4', express4],
] as const)('on %s', (_version, make: () => Express) => {
  const options = { ttl: '10s', staleIfError: '1m', softTimeout: false, loadTimeout: '3s' } as const

  test('a layer outside that delays the end gives a stale response its whole head, and no 304, as nothing shows yet that it keeps the body', async () => {
    let runs = 0
    await onSite(
      (app, cached) => {
        app.use(naming('x-outside'), delaying)
        app.get('/a', cached(options), naming('x-inside'), (_req, res) => {
          runs += 1
          if (runs === 1) res.set('ETag', '"1"').send('page')
          else res.status(500).send('broken')
        })
      },
      async (site) => {
        await site.get('/a')
        await site.runtime.advance(11_000)
        const { status, headers } = await site.get('/a').set('If-None-Match', '"1"')
        expect([status, headers['etag'], headers['x-outside'], headers['x-inside']]).toEqual([200, '"1"', 'yes', 'yes'])
      },
      {},
      make,
    )
  })

  test('a layer outside that delays the end gives the empty page of an error its head', async () => {
    await onSite(
      (app, cached) => {
        app.use(naming('x-outside'), delaying)
        app.get('/a', cached(options), () => undefined)
        const empty: ErrorRequestHandler = (_error, _req, res, _next) => void res.status(504).end()
        app.use(empty)
      },
      async (site) => {
        const asked = site.get('/a').then((response) => response)
        await site.seen('load', 1)
        await site.runtime.advance(3001)
        const { status, text, headers } = await asked
        expect([status, text, headers['x-outside']]).toEqual([504, '', 'yes'])
      },
      {},
      make,
    )
  })

  test('a layer outside that throws at the end of a 304 leaves the page of the error its body', async () => {
    let broken = true
    await onSite(
      (app, cached) => {
        app.use(
          wrapping('end', (end, args) => {
            if (!broken) return end(...args)
            broken = false
            throw new Error('not saved')
          }),
        )
        app.get('/a', cached(options), (_req, res) => void res.set('ETag', '"1"').end('page'))
        const page: ErrorRequestHandler = (error, _req, res, _next) =>
          void res.status(500).send((error as Error).message)
        app.use(page)
      },
      async (site) => {
        const { status, text } = await site.get('/a').set('If-None-Match', '"1"')
        expect([status, text]).toEqual([500, 'not saved'])
      },
      {},
      make,
    )
  })
})
