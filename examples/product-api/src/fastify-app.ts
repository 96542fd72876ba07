import type { Cache } from '@cattlegrid/core'
import cattlegrid from '@cattlegrid/fastify'
import Fastify, { type FastifyInstance } from 'fastify'
import { answerError } from './answer-error.ts'
import type { Catalogue } from './catalogue.ts'
import { metricsPageOf } from './metrics.ts'
import { readChange, readId, readPage, RequestError } from './requests.ts'

export async function createFastifyApp(catalogue: Catalogue, cache: Cache): Promise<FastifyInstance> {
  const app = Fastify()
  // Before the routes: the plugin caches only routes that are declared after it.
  await app.register(cattlegrid, { cache, defaults: { cacheStatus: true } })

  app.setErrorHandler((error, _request, reply) => {
    const { status, headers, body } = answerError(error)
    return reply.code(status).headers(headers).send(body)
  })
  app.setNotFoundHandler(() => {
    throw new RequestError(404, 'there is no such page')
  })

  app.get<{ Querystring: { page?: unknown } }>('/products', { config: { cache: { ttl: '2s' } } }, (request) =>
    catalogue.list(readPage(request.query.page)),
  )
  app.get<{ Params: { id: string } }>('/products/:id', (request) => catalogue.product(readId(request.params.id)))
  app.patch<{ Params: { id: string } }>('/products/:id', (request) =>
    catalogue.update(readId(request.params.id), readChange(request.body)),
  )

  app.get('/ranking', { config: { cache: { ttl: '1s', staleWhileRevalidate: '10s' } } }, () =>
    catalogue.ranking('ranking'),
  )
  app.get('/strict/ranking', { config: { cache: { ttl: '1s' } } }, () => catalogue.ranking('strict'))
  app.get('/unprotected/ranking', () => catalogue.ranking('unprotected'))

  const metrics = metricsPageOf(cache)
  app.get('/metrics', (_request, reply) => metrics.read().then((text) => reply.type(metrics.contentType).send(text)))

  return app
}
