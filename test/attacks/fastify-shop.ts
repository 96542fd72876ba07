import type { Server } from 'node:http'
import type { Cache } from '@cattlegrid/core'
import cattlegrid from '@cattlegrid/fastify'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Page, Reply, Seen, ShopOptions } from './shop.ts'

/** The shop on Fastify. */
export async function fastifyShop(
  cache: Cache,
  pages: readonly Page[],
  { trust, purge, layer, parseQuery }: ShopOptions,
): Promise<Server> {
  const app = Fastify({
    trustProxy: trust,
    forceCloseConnections: true,
    ...(parseQuery === undefined ? {} : { routerOptions: { querystringParser: parseQuery } }),
  })
  await app.register(cattlegrid, { cache, close: false })
  if (layer !== undefined)
    app.addHook('preHandler', async (request) => {
      request.query = layer(request.query as Record<string, unknown>, request.raw)
    })
  if (purge !== undefined)
    app.route({ method: ['GET', 'POST', 'DELETE'], url: '/purge', handler: app.cattlegrid.purge(purge) })
  for (const page of pages) declare(app, page)
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app.server
}

function declare(app: FastifyInstance, page: Page): void {
  let runs = 0
  app.route({
    method: page.method ?? 'GET',
    url: page.path,
    config: page.cache === undefined ? {} : { cache: page.cache },
    onRequest: async (request, reply) => {
      reply.headers(page.outside?.(seenBy(request)) ?? {})
    },
    handler: async (request, reply) => answer(reply, await page.handle(seenBy(request), ++runs, () => seenBy(request))),
  })
}

function seenBy(request: FastifyRequest): Seen {
  const { method, originalUrl: url, headers, host: site, protocol: scheme, raw } = request
  const { url: rawUrl, headersDistinct: distinct, rawHeaders: lines } = raw
  const query = request.query as Seen['query']
  const params = request.params as Seen['params']
  return { method, url, rawUrl, site, scheme, headers, distinct, lines, query, params }
}

function answer(reply: FastifyReply, { status = 200, headers = {}, body = '' }: Reply): FastifyReply {
  reply.code(status)
  for (const [name, value] of Object.entries(headers)) reply.header(name, value)
  return reply.send(body)
}
