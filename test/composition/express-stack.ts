import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expressCache, type RouteOptions } from '@cattlegrid/express'
import express, { type ErrorRequestHandler, type Express, type Request, type RequestHandler, Router } from 'express'
import express4 from 'express4'
import type { Expected, Probe, RunningApp, Start } from './play.ts'

export const EXPRESS = [
  ['Express 5', express],
  ['Express 4', express4],
] as const

/** A neighbour as it stands in one app. */
export interface Neighbour {
  readonly layers: readonly RequestHandler[]
  /** Adds what stands before everything else, such as a login. */
  readonly first?: (app: Express) => void
  readonly last?: readonly ErrorRequestHandler[]
  /** Takes the place of the page's handler. */
  readonly handler?: RequestHandler
  readonly close?: () => Promise<void>
}

interface Parts {
  readonly app: Express
  readonly layers: RequestHandler[]
  readonly cache: RequestHandler
  readonly page: RequestHandler
}

/** Where a neighbour stands. */
const WIRING = {
  'before the cache of a route': ({ app, layers, cache, page }: Parts) => app.use(layers).all('/page', cache, page),
  'in a route, before its cache': ({ app, layers, cache, page }: Parts) => app.all('/page', layers, cache, page),
  'in a route, behind its cache': ({ app, layers, cache, page }: Parts) => app.all('/page', cache, layers, page),
  'around a router of cached routes': ({ app, layers, cache, page }: Parts) =>
    app.use('/', layers, Router().all('/page', cache, page)),
  'before the cache of the app': ({ app, layers, cache, page }: Parts) => app.use(layers, cache).all('/page', page),
  'behind the cache of the app': ({ app, layers, cache, page }: Parts) => app.use(cache, layers).all('/page', page),
} as const

export type Place = keyof typeof WIRING
export const OUTSIDE: readonly Place[] = [
  'before the cache of a route',
  'in a route, before its cache',
  'around a router of cached routes',
  'before the cache of the app',
]
export const INSIDE: readonly Place[] = ['in a route, behind its cache', 'behind the cache of the app']
export const EVERYWHERE: readonly Place[] = [...OUTSIDE, ...INSIDE]

/** A neighbour, its places, and what is expected of each. */
export interface Row extends Expected {
  readonly says: string
  readonly places: readonly Place[]
  readonly neighbour: () => Neighbour | Promise<Neighbour>
  /** The text of the page. Default: the same for everyone. */
  readonly text?: (req: Request) => string
  readonly fields?: Readonly<Record<string, string>>
  readonly route?: RouteOptions
}

export const TEXT = 'One load per expiry, for the whole fleet. '.repeat(50)

/** Every row at each of its places. */
export function cases(rows: readonly Row[]): readonly (readonly [string, Place, Row])[] {
  return rows.flatMap((row) =>
    row.places.map((place) => [`${place}, ${row.says}`, place, { ...row, inside: INSIDE.includes(place) }] as const),
  )
}

/** Starts an app of such a row. */
export function expressApp(make: typeof express, place: Place, row: Row): Start {
  return async (probe, cache) => {
    const { first, layers, last = [], handler, close } = await row.neighbour()
    const app = make()
    app.set('env', 'test')
    first?.(app)
    const wholeApp = place.endsWith('of the app')
    const lifetime = wholeApp ? {} : { ttl: '60s', staleWhileRevalidate: '60s', invalidateOnUnsafe: true }
    const options = { ...lifetime, cacheStatus: true, ...row.route } as RouteOptions
    const middleware: RequestHandler = cache === undefined ? (_req, _res, next) => next() : expressCache(cache)(options)
    const page = pageOf(probe, row, wholeApp, handler)
    WIRING[place]({ app, layers: [...layers], cache: middleware, page })
    for (const layer of last) app.use(layer)
    return running(createServer(app), close)
  }
}

function pageOf(probe: Probe, { text, fields = {} }: Row, wholeApp: boolean, handler?: RequestHandler): RequestHandler {
  const declared = wholeApp ? { 'cache-control': 'max-age=60, stale-while-revalidate=60' } : {}
  return (req, res, next) => {
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      res.status(201).json({ method: req.method, by: req.headers['user-agent'] })
      return
    }
    probe.runs += 1
    res.set({ ...declared, ...fields })
    if (handler === undefined) setImmediate(() => res.send(text?.(req) ?? TEXT))
    else handler(req, res, next)
  }
}

export async function running(server: Server, close?: () => Promise<void>): Promise<RunningApp> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const ended = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await ended
      await close?.()
    },
  }
}
