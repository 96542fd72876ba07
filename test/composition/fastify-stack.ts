import cattlegrid, { type FastifyRouteOptions } from '@cattlegrid/fastify'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { TEXT } from './express-stack.ts'
import type { Expected, Probe, Start } from './play.ts'

/** `probe`: of neighbours that bring routes of their own. */
type Install = (app: FastifyInstance, probe: Probe) => Promise<unknown>

export const PLACES = [
  'before the plugin',
  'after the plugin',
  'in a child app',
  'before the plugin, in app mode',
] as const
export type Place = (typeof PLACES)[number]

export interface Row extends Expected {
  readonly says: string
  readonly places?: readonly Place[]
  /** Registers the neighbour. */
  readonly install: Install
  readonly handler?: (request: FastifyRequest, reply: FastifyReply) => unknown
  readonly route?: FastifyRouteOptions
}

export function cases(rows: readonly Row[]): readonly (readonly [string, Place, Row])[] {
  return rows.flatMap((row) => (row.places ?? PLACES).map((place) => [`${place}, ${row.says}`, place, row] as const))
}

/** Starts an app of such a row. */
export function fastifyApp(place: Place, row: Row): Start {
  return async (probe, cache) => {
    const app = Fastify({ forceCloseConnections: true })
    if (place.startsWith('before')) await row.install(app, probe)
    if (cache !== undefined) await app.register(cattlegrid, { cache, close: false, defaults: { cacheStatus: true } })
    const wholeApp = place.endsWith('app mode')
    const asked = {
      ttl: '60s',
      staleWhileRevalidate: '60s',
      invalidateOnUnsafe: true,
      ...row.route,
    } as FastifyRouteOptions
    const declare = (own: FastifyInstance): void => {
      const config = wholeApp || cache === undefined ? {} : { cache: asked }
      own.get('/page', { config }, async (request, reply) => {
        probe.runs += 1
        if (wholeApp) reply.header('cache-control', 'max-age=60, stale-while-revalidate=60')
        const made: unknown = await row.handler?.(request, reply)
        return made ?? reply.type('text/plain; charset=utf-8').send(TEXT)
      })
      own.post('/page', { config }, async ({ headers, method }, reply) => {
        reply.code(201)
        return { method, by: headers['user-agent'] }
      })
    }
    if (place === 'in a child app')
      await app.register(async (child) => {
        await row.install(child, probe)
        declare(child)
      })
    else {
      if (place.startsWith('after')) await row.install(app, probe)
      declare(app)
    }
    const port = Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port)
    return { port, close: () => app.close() }
  }
}
