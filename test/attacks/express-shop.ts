import { createServer, type Server } from 'node:http'
import { pipeline } from 'node:stream'
import type { Cache } from '@cattlegrid/core'
import { type Cached, expressCache } from '@cattlegrid/express'
import type { Express, Request, RequestHandler, Response } from 'express'
import type { Page, Reply, Seen, ShopOptions } from './shop.ts'

/** The shop on Express; `make` makes the app of one of its versions, `rest` is how that one spells a star. */
export function expressShop(make: () => Express, rest: string) {
  return async (
    cache: Cache,
    pages: readonly Page[],
    { trust, purge, prepare, layer }: ShopOptions,
  ): Promise<Server> => {
    const app = make()
    app.set('trust proxy', trust)
    app.set('env', 'test')
    const cached = expressCache(cache)
    prepare?.(app)
    if (layer !== undefined) app.use(onQuery(layer))
    if (purge !== undefined) app.all('/purge', cached.purge(purge))
    for (const page of pages) declare(app, cached, page, rest)
    const server = createServer(app)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return server
  }
}

function declare(app: Express, cached: Cached, page: Page, rest: string): void {
  let runs = 0
  const outside: RequestHandler = (req, res, next) => {
    res.set({ ...page.outside?.(seenBy(req)) })
    next()
  }
  const handler: RequestHandler = (req, res, next) => {
    const failed = (error: unknown): void => next(error)
    // Express 4 does not look at what a handler returns.
    answerBy(page, res, () => seenBy(req), ++runs).catch(failed)
  }
  const verb = (page.method ?? 'GET').toLowerCase() as 'get' | 'post'
  app[verb](page.path.replace(/\*$/, rest), outside, cached(page.cache), handler)
}

function onQuery(layer: NonNullable<ShopOptions['layer']>): RequestHandler {
  return (req, _res, next) => {
    const value = layer(req.query, req)
    Object.defineProperty(req, 'query', { configurable: true, enumerable: true, writable: true, value })
    next()
  }
}

function seenBy(req: Request): Seen {
  const { method, originalUrl: url, url: rawUrl, headers, headersDistinct: distinct, rawHeaders: lines } = req
  const { query, params, protocol: scheme } = req
  // Express 4 drops the port here.
  return { method, url, rawUrl, site: req.host, scheme, headers, distinct, lines, query, params }
}

async function answerBy(page: Page, res: Response, look: () => Seen, run: number): Promise<void> {
  answer(res, await page.handle(look(), run, look))
}

function answer(res: Response, { status = 200, headers = {}, body = '' }: Reply): void {
  res.status(status)
  for (const [name, value] of Object.entries(headers)) res.set(name, typeof value === 'string' ? value : [...value])
  if (typeof body === 'string') res.send(body)
  else pipeline(body, res, () => undefined)
}
