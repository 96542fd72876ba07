import { createRequire } from 'node:module'
import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { expressCache } from '@cattlegrid/express'
import express, { type ErrorRequestHandler, type RequestHandler, type Response } from 'express'
import { LRUCache } from 'lru-cache'
import { openCache, openRuns } from './open-cache.ts'
import { JSON_TYPE, type Origin, text, thing } from './origin.ts'
import { recorderByHand } from './recorded-by-hand.ts'

type Send = (res: Response) => void

const sendText: Send = (res) => void res.type('json').send(text)
const sendJson: Send = (res) => void res.json(thing)

/** The same route of the same app, with this in front of the handler. */
function app(origin: Origin, send: Send, ...layers: RequestHandler[]): Server {
  const handler: RequestHandler = async (_, res) => {
    const ok = await origin.run()
    if (!ok) res.status(500).send('the origin has nothing to give')
    else send(res.set('Cache-Control', origin.cacheControl))
  }
  const made = express()
  made.get('/ping', (_, res) => void res.set('Cache-Control', 'no-store').end('pong'))
  made.get('/thing/:id', ...layers, handler)
  // Its own would print each of 500 errors.
  made.use(((error: { status?: number }, _, res, __) => {
    res.status(error.status ?? 500).send('no answer')
  }) satisfies ErrorRequestHandler)
  return createServer(made)
}

/** As one writes it oneself: the body in an LRU, no rules, no flight. */
function lruInHandler(): RequestHandler {
  const kept = new LRUCache<string, string>({ max: 10_000, ttl: 3_600_000 })
  return (req, res, next) => {
    const hit = kept.get(req.originalUrl)
    if (hit !== undefined) return void res.setHeader('Content-Type', JSON_TYPE).end(hit)
    kept.set(req.originalUrl, text)
    next()
  }
}

/** Answers with what one run of the handler gave, in whichever process it was. */
async function oneRun(origin: Origin): Promise<RequestHandler> {
  const bodyOf = await openRuns(origin)
  return (req, res, next) =>
    void bodyOf(req.originalUrl).then((body) => res.setHeader('Content-Type', JSON_TYPE).end(body), next)
}

// Neither has types of its own.
const load = createRequire(import.meta.url)
const apicache = load('apicache') as { middleware(duration: string): RequestHandler }
const routeCache = load('route-cache') as { cacheSeconds(ttl: number): RequestHandler }

/** Answers with the string, and behind each answer asks the app for it anew, records what it gives and keeps that. */
function refreshesByHand(origin: Origin): Server {
  const made = express()
  const record = recorderByHand()
  const nowhere = new Socket()
  const ask = (url: string): void => {
    const req = Object.assign(new IncomingMessage(nowhere), { method: 'GET', url, headers: { behind: '1' } })
    made(req, new ServerResponse(req))
  }
  made.get('/thing/:id', (req, res) => {
    if (req.headers['behind'] !== undefined)
      return void record(req, res, () => void origin.run().then(() => sendText(res)))
    res.once('finish', () => ask(req.originalUrl))
    sendText(res)
  })
  return createServer(made)
}

/** What a refresh costs a framework at least. */
export const expressRefreshFloors: Readonly<Record<string, (origin: Origin) => Promise<Server>>> = {
  'Express, refreshed by hand': async (origin) => refreshesByHand(origin),
}

/** What a request costs a framework at least whose handler is recorded. */
export const expressLoadFloors: Readonly<Record<string, (origin: Origin) => Promise<Server>>> = {
  async 'Express, recorded by hand'(origin) {
    const record = recorderByHand()
    return app(origin, sendText, (req, res, next) => void record(req, res, next))
  },
}

/** What a herd costs a framework at least where the handler runs once for all processes. */
export const expressHerdFloors: Readonly<Record<string, (origin: Origin) => Promise<Server>>> = {
  'Express, one run told by a push': async (origin) => app(origin, sendText, await oneRun(origin)),
}

export const expressApps: Readonly<Record<string, (origin: Origin) => Promise<Server>>> = {
  'Express, sends a string': async (origin) => app(origin, sendText),
  'Express, res.json': async (origin) => app(origin, sendJson),
  'Express, LRU in the handler': async (origin) => app(origin, sendText, lruInHandler()),
  'Express, apicache': async (origin) =>
    app(origin, sendText, apicache.middleware(`${Math.max(1, origin.traits.ttl / 1000)} seconds`)),
  'Express, route-cache': async (origin) =>
    app(origin, sendText, routeCache.cacheSeconds(Math.max(1, origin.traits.ttl / 1000))),
  async 'Express, cattlegrid'(origin) {
    const { ttl, stale } = origin.traits
    const cached = expressCache(await openCache(origin.traits))
    return app(origin, sendText, cached({ ttl, staleWhileRevalidate: stale }))
  },
}
