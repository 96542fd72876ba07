import { describe, expect, jest, test } from '@jest/globals'
import express, { type Express, type Request, type RequestHandler, type Response } from 'express'
import express4 from 'express4'
import { onSite, type Site } from './support/site.ts'

const VERSIONS: readonly (readonly [string, () => Express])[] = [
  ['Express 5', express],
  ['Express 4', express4],
]

/** A layer outside that gives each client a field of its own, by its cookie. */
const personal =
  (name: string, valueOf: (user: string) => string): RequestHandler =>
  (req, res, next) => {
    res.set(name, valueOf(req.headers.cookie ?? 'nobody'))
    next()
  }

const fieldFor = async ({ get }: Site, user: string, name: string): Promise<string | undefined> =>
  (await get('/page').set('Cookie', user)).headers[name]

describe.each(VERSIONS)('on %s, a field that a layer outside gives each client', (_version, make) => {
  async function onPage(
    layer: RequestHandler,
    handle: (res: Response, req: Request) => void,
    play: (site: Site) => Promise<void>,
    options: object = {},
  ): Promise<void> {
    await onSite(
      (app, cached) => {
        app.use(layer)
        app.get('/page', cached({ ttl: '1m', cacheStatus: true, ...options }), (req, res) => {
          handle(res, req)
          res.send('page')
        })
      },
      play,
      {},
      make,
    )
  }

  test.each<readonly [string, (res: Response) => void]>([
    ['adds to', () => undefined],
    ['passes on with all fields', (res) => void res.writeHead(200, res.getHeaders())],
  ])('(names in Vary, which the handler %s) is on no other client’s hit', async (_what, pass) => {
    const layer: RequestHandler = (req, res, next) => {
      if (req.headers.cookie !== undefined) res.vary(`X-${req.headers.cookie}`)
      next()
    }
    let runs = 0
    await onSite(
      (app, cached) => {
        app.use(layer)
        app.get('/page', cached({ ttl: '1m' }), (_req, res) => {
          runs += 1
          res.vary('X-Page')
          pass(res)
          res.end('page')
        })
      },
      async (site) => {
        expect(await fieldFor(site, 'ann', 'vary')).toBe('X-ann, X-Page')
        expect(await fieldFor(site, 'bob', 'vary')).toBe('X-bob, X-Page')
        expect((await site.get('/page')).headers['vary']).toBe('X-Page')
        expect(runs).toBe(1)
      },
      {},
      make,
    )
  })

  const link = personal('Link', (user) => `</${user}.css>; rel="preload"`)
  const APPENDS: readonly (readonly [string, (res: Response) => void, string])[] = [
    ['res.append', (res) => void res.append('Link', '</page.css>'), '</page.css>'],
    ['res.links', (res) => void res.links({ next: '/2' }), '</2>; rel="next"'],
    ['appendHeader', (res) => void res.appendHeader('Link', '</page.css>'), '</page.css>'],
    ['two of them', (res) => void res.append('Link', '<1>').links({ next: '/2' }), '<1>, </2>; rel="next"'],
  ]

  test.each(APPENDS)(
    '(%s appends to it) has what the handler appended, and each client’s own',
    async (_name, append, added) => {
      await onPage(link, append, async (site) => {
        for (const user of ['ann', 'bob', 'cyd'])
          expect((await fieldFor(site, user, 'link'))?.split(/, ?/)).toEqual([
            `</${user}.css>; rel="preload"`,
            ...added.split(', '),
          ])
        expect(site.count('load')).toBe(1)
      })
    },
  )

  test('(of which the leader has none) is continued for those who have one', async () => {
    const layer: RequestHandler = (req, res, next) => {
      if (req.headers.cookie !== 'ann') res.set('Link', `</${req.headers.cookie}.css>`)
      next()
    }
    await onPage(
      layer,
      (res) => void res.append('Link', '</page.css>'),
      async (site) => {
        expect(await fieldFor(site, 'ann', 'link')).toBe('</page.css>')
        expect(await fieldFor(site, 'bob', 'link')).toBe('</bob.css>, </page.css>')
        expect(site.count('load')).toBe(1)
      },
    )
  })

  test('(a policy with a nonce, to which the handler adds a directive) keeps the response for its client, and says why', async () => {
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    const adds = (res: Response): void =>
      void res.set('Content-Security-Policy', `${String(res.get('Content-Security-Policy'))}; img-src 'self'`)
    const layer = personal('Content-Security-Policy', (user) => `script-src 'nonce-${user}'`)
    try {
      await onPage(layer, adds, async (site) => {
        for (const user of ['ann', 'bob', 'ann'])
          expect(await fieldFor(site, user, 'content-security-policy')).toBe(
            `script-src 'nonce-${user}'; img-src 'self'`,
          )
        const { headers } = await site.get('/page')
        expect(headers['cache-status']).not.toContain('hit')
      })
      const [[message, { code }]] = warned.mock.calls as unknown as [[string, { code: string }]]
      expect([warned.mock.calls.length, code]).toEqual([1, 'CATTLEGRID_OUTER_VALUE'])
      expect(message).toContain("strip: ['content-security-policy']")
      await onPage(layer, adds, async (site) =>
        expect(await fieldFor(site, 'ann', 'cache-status')).toContain('detail=outer-value'),
      )
    } finally {
      warned.mockRestore()
    }
  })

  const CSP = 'Content-Security-Policy'
  const OTHER = 'X-Copy'
  const valueOf = (res: Response): string => String(res.get(CSP))
  const TAKES: readonly (readonly [string, (res: Response) => void])[] = [
    [
      'moved to another field',
      (res) => {
        const value = valueOf(res)
        res.removeHeader(CSP)
        res.set('Content-Security-Policy-Report-Only', value)
      },
    ],
    ['in text of another field', (res) => void res.set(OTHER, `c:${valueOf(res)}`)],
    ['appended to another field', (res) => void res.append(OTHER, valueOf(res))],
    [
      'copied with all fields',
      (res) => {
        for (const [name, value] of Object.entries(res.getHeaders())) res.setHeader(`x-${name}`, String(value))
      },
    ],
    [
      'removed, and set again',
      (res) => {
        const value = valueOf(res)
        res.removeHeader(CSP)
        res.set(CSP, value)
      },
    ],
    [
      'replaced, and set again',
      (res) => {
        const value = valueOf(res)
        res.set(CSP, 'none').set(CSP, value)
      },
    ],
    [
      'removed, and appended',
      (res) => {
        const value = valueOf(res)
        res.removeHeader(CSP)
        res.append(CSP, value)
      },
    ],
    [
      'removed, and passed to writeHead',
      (res) => {
        const fields = res.getHeaders()
        for (const name of Object.keys(fields)) res.removeHeader(name)
        res.writeHead(200, fields).end('page')
      },
    ],
    ['in an ETag', (res) => void res.set('ETag', `"${valueOf(res).slice(12, -1)}"`)],
    ['in a Location', (res) => void res.location(`/${encodeURIComponent(valueOf(res))}`)],
    ['shortened', (res) => void res.set(CSP, valueOf(res).slice(1, -3))],
    ['in upper case', (res) => void res.set(CSP, valueOf(res).toUpperCase())],
  ]

  test.each(TAKES)('(%s by the handler that has read it) reaches no other client', async (_name, take) => {
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    const layer = personal(CSP, (user) => `script-src 'nonce-${user}'`)
    const handle = (res: Response): void => {
      take(res)
      if (!res.headersSent) res.send('page')
    }
    try {
      await onSite(
        (app, cached) => {
          app.use(layer)
          app.get('/page', cached({ ttl: '1m' }), (_req, res) => handle(res))
        },
        async ({ get }) => {
          const first = 'ann0123456789'
          await get('/page').set('Cookie', first)
          const { headers } = await get('/page').set('Cookie', 'bob9876543210')
          expect(JSON.stringify(headers).toLowerCase()).not.toContain('ann01234')
          expect(JSON.stringify(headers).toLowerCase()).toContain('bob98765')
        },
        {},
        make,
      )
    } finally {
      warned.mockRestore()
    }
  })

  test('(that the handler has read) leaves a response that has nothing of it to all', async () => {
    const layer = personal(CSP, (user) => `script-src 'nonce-${user}'`)
    const handle = (res: Response): void => {
      res.getHeaders()
      valueOf(res)
      res.set('Cache-Control', 'public, max-age=60').set('X-Page', '1').append('Link', '</page.css>; rel="preload"')
    }
    await onPage(layer, handle, async (site) => {
      for (const user of ['ann', 'bob']) await fieldFor(site, user, 'x-page')
      expect(site.count('load')).toBe(1)
    })
  })

  test('(the same value by chance) is the handler’s own for everybody', async () => {
    const layer = personal('X-Frame-Options', (user) => (user === 'ann' ? 'DENY' : 'SAMEORIGIN'))
    await onPage(
      layer,
      (res) => void res.set('X-Frame-Options', 'DENY'),
      async (site) => {
        for (const user of ['ann', 'bob']) expect(await fieldFor(site, user, 'x-frame-options')).toBe('DENY')
        expect(site.count('load')).toBe(1)
      },
    )
  })

  test('(a longer value that begins like it) is the handler’s own where the handler has not read it', async () => {
    await onPage(
      personal('Cache-Control', (user) => (user === 'ann' ? 'public' : 'no-cache')),
      (res) => void res.set('Cache-Control', 'public, max-age=60'),
      async (site) => {
        for (const user of ['ann', 'bob'])
          expect(await fieldFor(site, user, 'cache-control')).toBe('public, max-age=60')
        expect(site.count('load')).toBe(1)
      },
    )
  })

  const VARIES: readonly (readonly [string, (res: Response) => void, number])[] = [
    [
      "res.vary(['Origin', 'Accept'])",
      (res) => void Reflect.apply(res.vary as Function, res, [['Origin', 'Accept']]),
      2,
    ],
    ["res.vary('Accept'), then Origin", (res) => void res.vary('Accept').vary('Origin'), 2],
    [
      'a list after the present one',
      (res) => void res.set('Vary', [res.get('Vary') ?? [], 'Accept', 'Origin'].flat().join(', ')),
      2,
    ],
    ["res.vary('Accept')", (res) => void res.vary('Accept'), 1],
  ]

  test.each(VARIES)(
    '(Vary: Origin, as cors sets it, before %s) selects where the handler names it',
    async (_name, varies, runs) => {
      const cors: RequestHandler = (_req, res, next) => {
        res.vary('Origin')
        next()
      }
      let ran = 0
      const handle = (res: Response): void => {
        ran += 1
        varies(res)
      }
      await onPage(cors, handle, async (site) => {
        for (const origin of ['https://a.example', 'https://b.example', 'https://a.example']) {
          const { headers } = await site.get('/page').set('Origin', origin)
          expect(headers['vary']?.split(', ').toSorted()).toEqual(['Accept', 'Origin'])
        }
        expect(ran).toBe(runs)
      })
    },
  )
})
