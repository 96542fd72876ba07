import { describe, expect, test } from '@jest/globals'
import express, { type Express, type Request, type RequestHandler } from 'express'
import express4 from 'express4'
import { ask } from '../../../test/wire.ts'
import { onSite } from './support/site.ts'

const VERSIONS: readonly (readonly [string, () => Express])[] = [
  ['Express 5', express],
  ['Express 4', express4],
]

/** Ways in which layers outside define a property of the request so that it cannot be defined anew. */
const SESSIONS: readonly (readonly [string, (req: Request) => void])[] = [
  [
    'by accessors, as client-sessions does',
    (req) => Object.defineProperty(req, 'session', { get: () => ({ user: req.headers['x-user'] }), set() {} }),
  ],
  ['by a value', (req) => Object.defineProperty(req, 'session', { value: { user: req.headers['x-user'] } })],
]

describe.each(VERSIONS)('a property that cannot be watched, on %s,', (_, make) => {
  test.each(SESSIONS)('counts as read: a session that is defined %s reaches nobody else', async (__, define) => {
    const identify: RequestHandler = (req, _res, next) => {
      define(req)
      next()
    }
    await onSite(
      (app, cached) => {
        app.use(identify)
        app.get(
          '/account',
          cached({ ttl: '1m' }),
          (req, res) => void res.send(`account of ${(Reflect.get(req, 'session') as { user: string }).user}`),
        )
        app.get(
          '/allowed',
          cached({ ttl: '1m', allowReads: ['session'] }),
          (_req, res) => void res.send('for everybody'),
        )
      },
      async ({ port }) => {
        const asked = async (path: string, user: string): Promise<unknown> =>
          String((await ask(port, path, { headers: { 'x-user': user } })).body)
        expect(await asked('/account', 'ann')).toBe('account of ann')
        expect(await asked('/account', 'bob')).toBe('account of bob')
        expect(await asked('/allowed', 'ann')).toBe(await asked('/allowed', 'bob'))
        expect((await ask(port, '/allowed')).headers['age']).toBeDefined()
      },
      {},
      make,
    )
  })
})

/** How layers outside replace the parsed query. */
const QUERIES: readonly (readonly [string, (app: Express) => RequestHandler])[] = [
  [
    'a value that is read-only, as celebrate does',
    () => (req, _res, next) => {
      Object.defineProperty(req, 'query', { value: { ...req.query } })
      next()
    },
  ],
  [
    'an object that is no plain one',
    () => (req, _res, next) => {
      const value = new URLSearchParams(req.query as Record<string, string>)
      Object.defineProperty(req, 'query', { configurable: true, writable: true, value })
      next()
    },
  ],
  [
    'a getter of its own',
    () => (req, _res, next) => {
      const parsed = { ...req.query }
      Object.defineProperty(req, 'query', { configurable: true, get: () => parsed })
      next()
    },
  ],
  [
    'a getter on the prototype, as express-zod-safe does',
    (app) => {
      const before = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(app.request), 'query')?.get
      Object.defineProperty(app.request, 'query', {
        configurable: true,
        get(this: { kept?: unknown }) {
          return this.kept ?? before?.call(this)
        },
      })
      return (req, _res, next) => {
        Reflect.set(req, 'kept', { ...req.query })
        next()
      }
    },
  ],
]

describe('a parsed query that a layer outside replaces', () => {
  test.each(QUERIES)('by %s shows the handler no parameter that the key lacks', async (_, replaceBy) => {
    await onSite(
      (app, cached) => {
        app.use(replaceBy(app))
        app.get('/list', cached({ ttl: '1m', query: ['page'] }), ({ query }, res) => {
          res.send(query instanceof URLSearchParams ? query.get('utm') : query['utm'])
        })
      },
      async ({ get }) => {
        expect((await get('/list?page=2&utm=evil')).status).toBe(200)
        expect((await get('/list?page=2')).text).not.toContain('evil')
      },
    )
  })
})

/** How layers outside replace the fields of a request, so that none can be hidden. */
const FIELDS: readonly (readonly [string, (req: Request) => unknown])[] = [
  ['frozen fields', (req) => Object.freeze(req.headers)],
  ['fields that another object has', (req) => Reflect.set(req, 'headers', Object.create(req.headers))],
  [
    'a copy at each read',
    (req) => {
      const { headers } = req
      return Object.defineProperty(req, 'headers', { get: () => ({ ...headers }) })
    },
  ],
  ['a proxy', (req) => Reflect.set(req, 'headers', new Proxy({ ...req.headers }, { set: () => true }))],
]

describe('fields that cannot be hidden', () => {
  test.each(FIELDS)('make the request bypass the cache: %s', async (_, replace) => {
    await onSite(
      (app, cached) => {
        app.use((req, _res, next) => {
          replace(req)
          next()
        })
        app.get('/page', cached({ ttl: '1m' }), ({ headers }, res) => {
          res.send(`${String(headers['x-forwarded-host'])} ${headers.cookie}`)
        })
      },
      async ({ port }) => {
        const text = async (headers: Record<string, string>): Promise<string> =>
          String((await ask(port, '/page', { headers })).body)
        expect(await text({ 'x-forwarded-host': 'evil', cookie: 'user=ann' })).toContain('ann')
        expect(await text({ cookie: 'user=bob' })).toBe('undefined user=bob')
        expect(await text({})).toBe('undefined undefined')
      },
    )
  })
})
