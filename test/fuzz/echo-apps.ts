import type { IncomingMessage, Server } from 'node:http'
import { createServer } from 'node:http'
import type { Cache } from '@cattlegrid/core'
import { expressCache, type RouteOptions } from '@cattlegrid/express'
import cattlegrid, { type FastifyRouteOptions } from '@cattlegrid/fastify'
import express, { type Express, type Request } from 'express'
import express4 from 'express4'
import Fastify, { type FastifyServerOptions, type RouteShorthandOptions } from 'fastify'
import { parse } from 'qs'

/** An app whose handlers answer with everything that they can read of the input in the key. */
export type EchoApp = (cache: Cache) => Promise<Server>

interface EchoRoute {
  readonly path: string
  readonly options: RouteOptions & FastifyRouteOptions
  /** The fields that the handler shows, and whether its response varies by them. */
  readonly fields: readonly string[]
  readonly vary?: boolean
}

const ROUTES: readonly EchoRoute[] = [
  { path: '/all/:id', options: {}, fields: [] },
  { path: '/list/:id', options: { query: ['page', 'by'] }, fields: [] },
  { path: '/ignore/:id', options: { query: { ignore: ['utm'] } }, fields: [] },
  { path: '/none/:id', options: { query: false }, fields: [] },
  { path: '/keyed/:id', options: { key: { headers: ['x-k'], cookies: ['c'] } }, fields: ['x-k', 'cookie'] },
  { path: '/vary/:id', options: {}, fields: ['x-k', 'accept-language'], vary: true },
]
export const PATHS = ROUTES.map(({ path }) => path.slice(0, path.lastIndexOf('/')))

const COMMON = { ttl: '1h', cacheStatus: true } as const

/** Node's request, as a handler sees it. */
function rawEcho(req: IncomingMessage, fields: readonly string[]): object {
  const shown = fields.map((name) => [
    name,
    req.headers[name],
    req.headersDistinct[name],
    req.rawHeaders.filter((_, index, raw) => index % 2 === 1 && raw[index - 1]?.toLowerCase() === name),
  ])
  const { url } = req
  const kept = ['originalUrl', '_parsedUrl', 'query'].map((name): unknown => Reflect.get(req, name))
  return { url, kept, shown }
}

function onExpress(make: () => Express, prepare: (app: Express) => unknown = () => undefined): EchoApp {
  return async (cache) => {
    const app = make().set('env', 'test')
    prepare(app)
    const cached = expressCache(cache, COMMON)
    for (const { path, options, fields, vary } of ROUTES)
      app.get(path, cached({ ttl: '1h', ...options }), (req, res) => {
        if (vary === true) res.vary(fields.join(', '))
        const { originalUrl, path: shownPath, query, params, baseUrl } = req
        res.send(JSON.stringify({ originalUrl, shownPath, query, params, baseUrl, ...rawEcho(req, fields) }))
      })
    const server = createServer(app)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return server
  }
}

function onFastify(server: FastifyServerOptions = {}, options: Partial<RouteShorthandOptions> = {}): EchoApp {
  return async (cache) => {
    const app = Fastify({ forceCloseConnections: true, ...server })
    await app.register(cattlegrid, { cache, close: false, defaults: COMMON })
    for (const { path, options: own, fields, vary } of ROUTES)
      app.get(path, { ...options, config: { cache: { ttl: '1h', ...own } } }, async (request, reply) => {
        if (vary === true) reply.header('vary', fields.join())
        const { url, originalUrl, query, params, raw } = request
        return reply.send(JSON.stringify({ url, originalUrl, query, params, raw: rawEcho(raw, fields) }))
      })
    await app.listen({ port: 0, host: '127.0.0.1' })
    return app.server
  }
}

type Parser = (text: string | null) => Record<string, unknown>

/** Names in any case are one, and the last one counts; a semicolon separates, too. */
const folding: Parser = (text) =>
  Object.fromEntries(
    [...new URLSearchParams(text?.replaceAll(';', '&') ?? '')].map(([name, value]) => [name.toLowerCase(), value]),
  )

/** A layer makes the query writable. */
export const replaced = (app: Express): unknown =>
  app.use((req: Request, _res, next) => {
    Object.defineProperty(req, 'query', {
      configurable: true,
      enumerable: true,
      writable: true,
      value: { ...req.query },
    })
    next()
  })

/** A schema whose parameters have other names than those of the query. */
const renamed: Partial<RouteShorthandOptions> = {
  schema: { querystring: {} },
  validatorCompiler: () => (query: Readonly<Record<string, unknown>>) => ({
    value: { size: Number(query['page_size'] ?? 20), ...query },
  }),
}
const typed: Partial<RouteShorthandOptions> = {
  schema: {
    querystring: { type: 'object', properties: { by: { type: 'string', default: 'id' }, size: { type: 'integer' } } },
  },
}

export const ECHO_APPS: readonly (readonly [string, EchoApp])[] = [
  ['Express 4, simple', onExpress(express4, (app) => app.set('query parser', 'simple'))],
  ['Express 4, extended', onExpress(express4)],
  ['Express 5, simple', onExpress(express)],
  ['Express 5, extended', onExpress(express, (app) => app.set('query parser', 'extended'))],
  ['Express 5, a parser that folds', onExpress(express, (app) => app.set('query parser', folding))],
  ['Express 5 below a layer that replaces the query', onExpress(express, replaced)],
  [
    'Express 5 with case and slash',
    onExpress(express, (app) => app.enable('strict routing').enable('case sensitive routing')),
  ],
  ['Fastify', onFastify()],
  ['Fastify, qs', onFastify({ routerOptions: { querystringParser: (text) => parse(text) } })],
  ['Fastify, a parser that folds', onFastify({ routerOptions: { querystringParser: folding } })],
  ['Fastify, a schema that renames', onFastify({}, renamed)],
  ['Fastify, a schema with types', onFastify({}, typed)],
  [
    'Fastify, folded paths and semicolons',
    onFastify({ useSemicolonDelimiter: true, routerOptions: { caseSensitive: false, ignoreTrailingSlash: true } }),
  ],
]
