import { describe, expect, test } from '@jest/globals'
import express, { type Request, type RequestHandler } from 'express'
import express4 from 'express4'
import session from 'express-session'
import type { RouteOptions } from '@cattlegrid/express'
import { warningsDuring } from '../../packages/testkit/src/adapter-contract/warnings.ts'
import { onSite } from '../../packages/express/test/support/site.ts'

const ttl = '1m'
const PROPERTIES = ['user', 'account', 'auth', 'oidc', 'session', 'sessionID', 'cookies', 'signedCookies'] as const

/** What passport, an auth library, a session or a cookie parser does: it puts a property on the request. */
const puts =
  (property: string, value: unknown = { name: 'ann' }): RequestHandler =>
  (req, _res, next) => {
    Object.assign(req, { [property]: value })
    next()
  }

const reads =
  (property: string): RequestHandler =>
  (req, res) =>
    void res.send(`for ${JSON.stringify(Reflect.get(req, property))}`)

/** What an adapter of a web framework makes of a request. */
const init = ({ headers }: Request): { headers: Record<string, string> } => ({
  headers: headers as Record<string, string>,
})

interface Outcome {
  readonly status: string | undefined
  readonly commits: number
}

/** Asks twice for `/me`, behind the middleware `outside`. */
async function askTwice(
  outside: readonly RequestHandler[],
  options: RouteOptions | Readonly<Record<string, unknown>>,
  inside: readonly RequestHandler[],
  make: typeof express = express,
): Promise<Outcome> {
  let outcome: Outcome = { status: undefined, commits: 0 }
  await onSite(
    (app, cached) => {
      app.get('/me', ...outside, cached({ ttl, cacheStatus: true, ...options }), ...inside)
    },
    async ({ get, count }) => {
      const { headers } = await get('/me')
      await get('/me')
      outcome = { status: headers['cache-status'], commits: count('commit') }
    },
    {},
    make,
  )
  return outcome
}

const PERSONAL: Outcome = { status: 'cattlegrid; fwd=uri-miss; detail=personal', commits: 0 }

describe.each([
  ['Express 5', express],
  ['Express 4', express4],
] as const)('a handler of %s that looks at who asks', (_version, make) => {
  test.each(PROPERTIES)('(req.%s) has its response kept for its own client', async (property) => {
    expect(await askTwice([puts(property)], {}, [reads(property)], make)).toEqual(PERSONAL)
  })

  test.each(PROPERTIES)(
    '(req.%s, set by middleware behind the cache) has its response kept for its own client',
    async (property) => {
      expect(await askTwice([], {}, [puts(property), reads(property)], make)).toEqual(PERSONAL)
    },
  )

  test('(a session of express-session) has its response kept for its own client', async () => {
    const sessions = session({ secret: 'no secret', resave: false, saveUninitialized: false })
    const visitor: RequestHandler = (req, res) => void res.send(`for ${req.session.user ?? 'a visitor'}`)
    expect(await askTwice([sessions], {}, [visitor], make)).toEqual(PERSONAL)
  })

  test('(an authentication behind the cache) has its response kept for its own client', async () => {
    const guard: RequestHandler = (req, res, next) => {
      Object.assign(req, { user: req.headers['x-user'] })
      if ((req as { readonly user?: unknown }).user === 'stranger') res.sendStatus(401)
      else next()
    }
    expect(await askTwice([], {}, [guard, (_req, res) => void res.send('secret')], make)).toEqual(PERSONAL)
  })

  test('(only after the head) has its response kept for its own client', async () => {
    const late: RequestHandler = (req, res) => {
      res.write('for ')
      res.end(JSON.stringify(Reflect.get(req, 'user')))
    }
    const { commits } = await askTwice([puts('user')], {}, [late], make)
    expect(commits).toBe(0)
  })

  test('is named once a route, with the property, the place of the read and the three cures', async () => {
    const warnings = await warningsDuring('CATTLEGRID_PERSONAL_READ', async () => {
      await askTwice([puts('user')], {}, [reads('user')], make)
    })
    expect(warnings).toHaveLength(1)
    for (const said of ['req.user', 'personal-reads.test', 'key.cookies', 'before cached()', "allowReads: ['user']"])
      expect(warnings[0]?.message).toContain(said)
  })

  test.each(PROPERTIES)('(req.%s, which allowReads names) has its response stored', async (property) => {
    const { commits } = await askTwice([puts(property)], { allowReads: [property] }, [reads(property)], make)
    expect(commits).toBe(1)
  })

  test.each(PROPERTIES)('(req.%s, by a layer outside the cache) has its response stored', async (property) => {
    const outside: RequestHandler = (req, res, next) => {
      res.set('x-reader', JSON.stringify(Reflect.get(req, property)))
      res.on('finish', () => Reflect.get(req, property))
      next()
    }
    const everybodys: RequestHandler = (_req, res) => void res.send('for everybody')
    const { commits } = await askTwice([puts(property), outside], {}, [everybodys], make)
    expect(commits).toBe(1)
  })

  test('(a keyed cookie among req.cookies) has its response stored', async () => {
    const cookies = { theme: 'dark', sid: 'ann' }
    const theme: RequestHandler = (req: Request, res) => void res.send((req.cookies as typeof cookies).theme)
    const { commits } = await askTwice([puts('cookies', cookies)], { key: { cookies: ['theme'] } }, [theme], make)
    expect(commits).toBe(1)
  })

  test('(another cookie than the keyed one among req.cookies) has its response kept for its own client', async () => {
    const cookies = { theme: 'dark', sid: 'ann' }
    const sid: RequestHandler = (req: Request, res) => void res.send((req.cookies as typeof cookies).sid)
    const outcome = await askTwice([puts('cookies', cookies)], { key: { cookies: ['theme'] } }, [sid], make)
    expect(outcome).toEqual(PERSONAL)
  })

  test('(req.cookies, of which one is keyed) has the same cookies at each read', async () => {
    const same: RequestHandler = (req: Request, res) => {
      const cookies: unknown = req.cookies
      res.send(String(cookies === req.cookies))
    }
    await onSite(
      (app, cached) => {
        app.get('/me', puts('cookies', { theme: 'dark' }), cached({ ttl, key: { cookies: ['theme'] } }), same)
      },
      async ({ get }) => {
        expect((await get('/me')).text).toBe('true')
      },
      {},
      make,
    )
  })

  test.each([
    ['Object.hasOwn', (cookies: object) => Object.hasOwn(cookies, 'sid')],
    ['in', (cookies: object) => 'sid' in cookies],
    ['Object.keys', (cookies: object) => Object.keys(cookies).length],
  ])('(by %s, another cookie than the keyed one) has its response kept for its own client', async (_way, look) => {
    const handler: RequestHandler = (req: Request, res) => void res.send(String(look(req.cookies as object)))
    const outcome = await askTwice([puts('cookies', { sid: 'ann' })], { key: { cookies: ['theme'] } }, [handler], make)
    expect(outcome).toEqual(PERSONAL)
  })

  test.each([
    ['headersDistinct', (req: Request) => req.headersDistinct['cookie']],
    [
      'a Request made of the fields',
      (req: Request) => new globalThis.Request('http://shop/', init(req)).headers.get('cookie'),
    ],
    ['a copy of the fields', (req: Request) => ({ ...req.headers }).cookie],
  ])('(a cookie, by %s) has its response kept for its own client', async (_way, look) => {
    await onSite(
      (app, cached) => {
        app.get('/me', cached({ ttl }), (req, res) => void res.send(`for ${String(look(req))}`))
      },
      async ({ get }) => {
        expect((await get('/me').set('cookie', 'sid=ann')).text).toBe('for sid=ann')
        expect((await get('/me').set('cookie', 'sid=bob')).text).toBe('for sid=bob')
      },
      {},
      make,
    )
  })

  test('(a cache layer inside, whose key holds a cookie) has its response kept for its own client', async () => {
    const tenant: RequestHandler = (req, res) => void res.send(`for ${req.headers.cookie}`)
    await onSite(
      (app, cached) => {
        app.get('/me', cached({ ttl }), cached({ ttl, key: { cookies: ['tenant'] } }), tenant)
      },
      async ({ get, runtime }) => {
        await get('/me').set('cookie', 'tenant=a')
        // The outer layer's key has been uncacheable until now; the inner layer has a hit.
        await runtime.advance(11_000)
        await get('/me').set('cookie', 'tenant=a')
        expect((await get('/me').set('cookie', 'tenant=b')).text).toBe('for tenant=b')
      },
      {},
      make,
    )
  })

  test.each<[string, RouteOptions, (req: Request) => unknown]>([
    ['a keyed cookie', { key: { cookies: ['tenant'] } }, (req) => req.headers.cookie],
    ['an allowed read', { key: { headers: ['tenant'] }, allowReads: ['session'] }, (req) => req.session],
    ['credentials in its key', { authorization: 'key' }, (req) => Reflect.get(req, 'user')],
  ])('(of a cache layer inside, by %s) has its response in no entry of app mode', async (way, options, look) => {
    const page: RequestHandler = (req, res) =>
      void res.set('cache-control', 'public, max-age=60').send(JSON.stringify(look(req)))
    const tell: RequestHandler = (req, res, next) => {
      const name = req.headers['tenant']
      puts('user', name)(req, res, () => puts('session', name)(req, res, next))
    }
    await onSite(
      (app, cached) => {
        app.get('/me', tell, cached(), cached({ ttl, ...options }), page)
      },
      async ({ get, runtime }) => {
        const ask = (tenant: string) => {
          const credentials = way.startsWith('credentials') ? { authorization: `bearer of ${tenant}` } : {}
          return get('/me').set({ tenant, cookie: `tenant=${tenant}`, ...credentials })
        }
        await ask('ann')
        // The outer layer's key has been uncacheable until now; the inner layer has a hit.
        await runtime.advance(11_000)
        await ask('ann')
        expect((await ask('bob')).text).toContain('bob')
      },
      {},
      make,
    )
  })

  test('sees the same values as without the cache, and may assign them', async () => {
    let seen: unknown
    await askTwice([puts('user')], {}, [
      puts('user', { name: 'bob' }),
      (req, res) => {
        seen = [Reflect.get(req, 'user'), Object.keys(req).includes('user'), 'user' in req]
        res.send('one')
      },
    ])
    expect(seen).toEqual([{ name: 'bob' }, true, true])
  })
})
