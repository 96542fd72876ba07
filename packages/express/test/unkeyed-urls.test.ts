import { describe, expect, test } from '@jest/globals'
import type { RequestHandler } from 'express'
import { ask } from '../../../test/wire.ts'
import { isRefresh } from '../src/index.ts'
import { onSite } from './support/site.ts'

/** Keeps the values of `query` of each request that comes to it. */
function journal(): { readonly seen: unknown[]; readonly handler: RequestHandler } {
  const seen: unknown[] = []
  const handler: RequestHandler = (req, res) => {
    seen.push(req.query)
    res.send(`run ${seen.length}`)
  }
  return { seen, handler }
}

const requireLogin: RequestHandler = (req, res, next) => {
  if (req.headers['x-user'] === undefined) res.sendStatus(401)
  else next()
}

const route = { ttl: '1m', query: ['page'], cacheStatus: true } as const

/** So many requests at once, each with a parameter of its own. */
function campaign(size: number): readonly string[] {
  return Array.from({ length: size }, (_, index) => `/list?page=2&utm=${index}`)
}

describe('a request whose URL is not that of its key', () => {
  test('has a subrequest for the URL of the key in its place, one for all that come at once', async () => {
    const { seen, handler } = journal()
    await onSite(
      (app, cached) => app.get('/list', cached(route), handler),
      async ({ get }) => {
        const answers = await Promise.all(campaign(30).map((path) => get(path)))
        expect(new Set(answers.map(({ text }) => text))).toEqual(new Set(['run 1']))
        expect(seen).toEqual([{ page: '2' }])
      },
    )
  })

  test('runs its own handler where a layer outside rejects the subrequest, and shares nothing', async () => {
    const { seen, handler } = journal()
    await onSite(
      (app, cached) => app.get('/list', requireLogin, cached(route), handler),
      async ({ port }) => {
        const headers = { 'x-user': 'ann' }
        const answers = await Promise.all(campaign(10).map((path) => ask(port, path, { headers })))
        expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
        expect(seen).toHaveLength(10)
        const { 'cache-status': status } = (await ask(port, '/list?page=3&utm=1', { headers })).headers
        expect(status).toBe('cattlegrid; fwd=uri-miss; detail=unkeyed-url')
        expect(seen.at(-1)).toEqual({ page: '3', utm: '1' })
        for (const kind of ['; stored; ttl=60', '; hit; ttl=60'])
          expect((await ask(port, '/list?page=4', { headers })).headers['cache-status']).toContain(kind)
        expect((await ask(port, '/list?page=4&utm=2', { headers })).headers['cache-status']).toContain('; hit')
      },
    )
  })

  test('asks a handler that fails twice, not once for each client', async () => {
    let runs = 0
    await onSite(
      (app, cached) =>
        app.get('/list', cached(route), (_req, res) => {
          runs += 1
          res.status(500).send('broken')
        }),
      async ({ get }) => {
        const answers = await Promise.all(campaign(20).map((path) => get(path)))
        expect(runs).toBe(2)
        expect(answers.filter(({ status }) => status === 500)).toHaveLength(1)
        expect(answers.filter(({ status }) => status === 503)).toHaveLength(19)
      },
    )
  })

  test('with another key for the subrequest warns of nothing: refreshes of other requests may have theirs', async () => {
    const warnings: unknown[] = []
    const warned = (warning: unknown): void => void warnings.push(warning)
    process.on('warning', warned)
    const { seen, handler } = journal()
    await onSite(
      (app, cached) => {
        app.use((req, _res, next) => {
          if (req.query['version'] === '2') req.url = `/v2${req.url}`
          next()
        })
        app.get(['/list', '/v2/list'], cached(route), handler)
      },
      async ({ get }) => {
        expect((await get('/list?page=2&version=2')).text).toBe('run 1')
        expect((await get('/list?page=2')).text).toBe('run 2')
        expect(seen).toHaveLength(2)
      },
    )
    process.off('warning', warned)
    expect(warnings).toEqual([])
  })

  test('refreshes a stale entry with the URL of the key', async () => {
    const { seen, handler } = journal()
    await onSite(
      (app, cached) => app.get('/list', cached({ ...route, staleWhileRevalidate: '1h' }), handler),
      async ({ get, runtime, seen: counted }) => {
        await get('/list?page=2')
        await runtime.advance(61_000)
        expect((await get('/list?page=2&utm=1')).text).toBe('run 1')
        await counted('commit', 2)
        expect((await get('/list?page=2&utm=2')).text).toBe('run 2')
        expect(seen).toEqual([{ page: '2' }, { page: '2' }])
      },
    )
  })
})

describe('in app mode, a request whose URL is not that of its key', () => {
  test('runs its own handler, and nothing more, where the response declares no lifetime', async () => {
    const seen: string[] = []
    await onSite(
      (app, cached) => {
        app.use(cached({ query: { ignore: ['utm'] } }))
        app.get('/confirm', (req, res) => {
          seen.push(req.originalUrl)
          res.send(isRefresh(req) ? 'refresh' : 'done')
        })
      },
      async ({ get }) => {
        for (const path of ['/confirm?token=1&utm=a', '/confirm?token=1&utm=b'])
          expect((await get(path)).text).toBe('done')
        expect(seen).toEqual(['/confirm?token=1&utm=a', '/confirm?token=1&utm=b'])
      },
    )
  })

  test('shows by its response that a subrequest may bring one: the next request sends it', async () => {
    const { seen, handler } = journal()
    await onSite(
      (app, cached) => {
        app.use(cached({ query: ['page'], cacheStatus: true }))
        app.get(
          '/list',
          (_req, res, next) => {
            res.set('cache-control', 'public, max-age=60')
            next()
          },
          handler,
        )
      },
      async ({ get }) => {
        expect((await get('/list?page=2&utm=1')).headers['cache-status']).toContain('; detail=unkeyed-url')
        expect((await get('/list?page=2&utm=2')).headers['cache-status']).toContain('; stored; ttl=60')
        expect((await get('/list?page=2')).headers['cache-status']).toContain('; hit; ttl=60')
        expect(seen).toEqual([{ page: '2', utm: '1' }, { page: '2' }])
      },
    )
  })

  test('sends no subrequest with credentials of its own, which that would lack', async () => {
    const { seen, handler } = journal()
    await onSite(
      (app, cached) => {
        app.use(cached({ query: ['page'], cacheStatus: true }))
        app.get(
          '/list',
          (_req, res, next) => {
            res.set('cache-control', 'public, max-age=60')
            next()
          },
          handler,
        )
      },
      async ({ port }) => {
        const headers = { authorization: 'Bearer one' }
        for (const utm of [1, 2]) expect((await ask(port, `/list?page=2&utm=${utm}`, { headers })).status).toBe(200)
        expect(seen).toEqual([
          { page: '2', utm: '1' },
          { page: '2', utm: '2' },
        ])
      },
    )
  })
})
