import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import cattlegrid from '@cattlegrid/fastify'
import caching from '@fastify/caching'
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import { LRUCache } from 'lru-cache'
import { openCache, openRuns } from './open-cache.ts'
import { JSON_TYPE, type Origin, text, thing } from './origin.ts'
import { recorderByHand } from './recorded-by-hand.ts'

type Send = (reply: FastifyReply) => FastifyReply

const sendText: Send = (reply) => reply.type(JSON_TYPE).send(text)
const sendJson: Send = (reply) => reply.send(thing)

interface Layers {
  readonly make?: () => FastifyInstance
  readonly prepare?: (app: FastifyInstance) => Promise<unknown>
  readonly config?: { readonly cache: { readonly ttl: number; readonly staleWhileRevalidate: number } }
  readonly answer?: (url: string) => string | undefined
  /** Runs the handler's work itself, or has another do so. */
  readonly bodyOf?: (url: string) => Promise<string>
  /** Stands around the handler of each request. */
  readonly around?: ReturnType<typeof recorderByHand>
}

async function app(
  origin: Origin,
  send: Send,
  { make = fastify, prepare, config, answer, bodyOf, around }: Layers = {},
): Promise<Server> {
  const made = make()
  await prepare?.(made)
  // Opens the connections: what a cache makes of it is none of the measure's business.
  made.get('/ping', { config: { cache: false } }, (_, reply) => reply.send('pong'))
  made.get('/thing/:id', config === undefined ? {} : { config }, async (request, reply) => {
    const hit = answer?.(request.url)
    if (hit !== undefined) return reply.type(JSON_TYPE).send(hit)
    if (bodyOf !== undefined) return reply.type(JSON_TYPE).send(await bodyOf(request.url))
    const run = async (): Promise<FastifyReply> => {
      if (!(await origin.run())) return reply.code(500).send('the origin has nothing to give')
      return send(reply.header('Cache-Control', origin.cacheControl))
    }
    return around === undefined ? run() : around(request.raw, reply.raw, run)
  })
  await made.ready()
  return made.server
}

function lru(): (url: string) => string | undefined {
  const kept = new LRUCache<string, string>({ max: 10_000, ttl: 3_600_000 })
  return (url) => {
    const hit = kept.get(url)
    if (hit === undefined) kept.set(url, text)
    return hit
  }
}

/** Answers with the string, and asks itself for it anew behind each answer: a subrequest of the framework's own, and nothing that keeps it. */
async function asksItself(origin: Origin): Promise<Server> {
  const made = fastify()
  made.get('/thing/:id', async (request, reply) => {
    if (request.headers['behind'] !== undefined) await origin.run()
    else reply.raw.once('finish', () => void made.inject({ url: request.url, headers: { behind: '1' } }))
    return sendText(reply)
  })
  await made.ready()
  return made.server
}

/** The same, and what the handler gave is recorded and kept. */
async function refreshesByHand(origin: Origin): Promise<Server> {
  const made = fastify()
  const record = recorderByHand()
  made.get('/thing/:id', (request, reply) => {
    if (request.headers['behind'] !== undefined)
      return record(request.raw, reply.raw, () => origin.run().then(() => sendText(reply)))
    reply.raw.once('finish', () => void made.inject({ url: request.url, headers: { behind: '1' } }))
    return sendText(reply)
  })
  await made.ready()
  return made.server
}

/** What a refresh costs a framework at least. */
export const fastifyRefreshFloors: Readonly<Record<string, (origin: Origin) => Promise<Server>>> = {
  'Fastify, injects a request behind each answer': asksItself,
  'Fastify, refreshed by hand': refreshesByHand,
}

/** What a request costs a framework at least whose handler is recorded. */
export const fastifyLoadFloors: Readonly<Record<string, (origin: Origin) => Promise<Server>>> = {
  'Fastify, recorded by hand': (origin) => app(origin, sendText, { around: recorderByHand() }),
}

/** What a herd costs a framework at least where the handler runs once for all processes. */
export const fastifyHerdFloors: Readonly<Record<string, (origin: Origin) => Promise<Server>>> = {
  'Fastify, one run told by a push': async (origin) => app(origin, sendText, { bodyOf: await openRuns(origin) }),
}

/** As an application in CommonJS writes it; `loaded`: before it makes the app, or in the line that registers the plugin. */
async function required(origin: Origin, loaded: 'before' | 'after'): Promise<Server> {
  const { ttl, stale } = origin.traits
  const cache = await openCache(origin.traits)
  const load = createRequire(import.meta.url)
  const plugin = (): typeof cattlegrid =>
    (load('@cattlegrid/fastify') as { readonly cattlegrid: typeof cattlegrid }).cattlegrid
  if (loaded === 'before') plugin()
  return await app(origin, sendText, {
    make: load('fastify') as typeof fastify,
    prepare: async (made) => await made.register(plugin(), { cache }),
    config: { cache: { ttl, staleWhileRevalidate: stale } },
  })
}

export const fastifyApps: Readonly<Record<string, (origin: Origin) => Promise<Server>>> = {
  'Fastify, sends a string': (origin) => app(origin, sendText),
  'Fastify, sends an object': (origin) => app(origin, sendJson),
  'Fastify, LRU in the handler': (origin) => app(origin, sendText, { answer: lru() }),
  'Fastify, @fastify/caching': (origin) =>
    app(origin, sendText, {
      prepare: async (made) => await made.register(caching, { privacy: 'public', expiresIn: 3600 }),
    }),
  async 'Fastify, cattlegrid'(origin) {
    const { ttl, stale } = origin.traits
    const cache = await openCache(origin.traits)
    return await app(origin, sendText, {
      prepare: async (made) => await made.register(cattlegrid, { cache }),
      config: { cache: { ttl, staleWhileRevalidate: stale } },
    })
  },
  'Fastify, cattlegrid by require, before the app': (origin) => required(origin, 'before'),
  'Fastify, cattlegrid by require, after the app': (origin) => required(origin, 'after'),
}
