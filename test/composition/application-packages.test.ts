import { runInThisContext } from 'node:vm'
import { afterEach, describe, expect, test } from '@jest/globals'
import type { Request, RequestHandler, Response } from 'express'
import type { FastifyInstance } from 'fastify'
import { onSite } from '../../packages/express/test/support/site.ts'
import { withApp } from '../../packages/fastify/test/support/cached-app.ts'

/** A package that parses cookies itself, and whose page shows them. */
interface SitePackage {
  readonly parse: RequestHandler
  page(req: Request, res: Response): void
  /** Calls the function: `cached()`. */
  call<T>(declare: () => T): T
  install(app: FastifyInstance): void
}

const SOURCE = `({
  parse(req, res, next) { req.cookies = { sid: req.headers['x-sid'] }; void req.cookies; next() },
  page(req, res) { res.send('for ' + req.cookies.sid) },
  call(declare) { return declare() },
  install(app) {
    app.get('/me', { config: { cache: { ttl: '1m' } } }, async ({ raw }) => {
      raw.cookies = { sid: raw.headers['x-sid'] }
      return 'for ' + raw.cookies.sid
    })
  },
})`

const MAIN = '/srv/node_modules/@acme/site/main.js'
const packageAt = (filename: string): SitePackage => runInThisContext(SOURCE, { filename }) as SitePackage
const site = packageAt(MAIN)

const { argv } = process
afterEach(() => {
  process.argv = argv
})

async function pagesOf(declare: <T>(cached: () => T) => T): Promise<readonly string[]> {
  const pages: string[] = []
  await onSite(
    (app, cached) =>
      void app.get(
        '/me',
        declare(() => cached({ ttl: '1m' })),
        site.parse,
        site.page,
      ),
    async ({ get }) => {
      for (const sid of ['ann', 'bob']) pages.push((await get('/me').set('x-sid', sid)).text)
    },
  )
  return pages
}

const OWN = ['for ann', 'for bob']

describe('a page that reads the cookies which its own package has parsed', () => {
  test('is its client’s own where that package declares the route', async () => {
    expect(await pagesOf((cached) => site.call(cached))).toEqual(OWN)
  })

  test('is its client’s own where the package that declares the route is called by that package', async () => {
    const tools = packageAt('/srv/node_modules/@acme/tools/cached.js')
    expect(await pagesOf((cached) => site.call(() => tools.call(cached)))).toEqual(OWN)
  })

  test('is its client’s own where the package is that of the main module', async () => {
    process.argv = ['node', MAIN]
    expect(await pagesOf((cached) => cached())).toEqual(OWN)
  })

  test('is its client’s own where the package declares a route of Fastify', async () => {
    await withApp(async ({ app }) => {
      site.install(app)
      const ask = async (sid: string): Promise<string> =>
        (await app.inject({ url: '/me', headers: { 'x-sid': sid } })).body
      expect([await ask('ann'), await ask('bob')]).toEqual(OWN)
    })
  })

  test('is shared where the package is a dependency, as a cookie parser is', async () => {
    expect(await pagesOf((cached) => cached())).toEqual(['for ann', 'for ann'])
  })
})
