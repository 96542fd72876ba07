import { createCache } from '@cattlegrid/core'
import cattlegrid, { cached } from '@cattlegrid/fastify'
import fastify from 'fastify'
import { Herd } from './herd.js'

/** A Fastify app whose route is cached. */
export async function check(): Promise<void> {
  const herd = new Herd()
  const app = fastify({ forceCloseConnections: true })
  app.addHook('onRequest', async () => herd.arrive())
  await app.register(cattlegrid, { cache: createCache() })
  app.get<{ Params: { id: string } }>('/products/:id', { config: { cache: cached({ ttl: '30s' }) } }, (request) =>
    herd.run(request.params.id),
  )
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  try {
    await herd.visit(origin)
  } finally {
    await app.close()
  }
}
