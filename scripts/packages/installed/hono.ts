import { createCache } from '@cattlegrid/core'
import { honoCache } from '@cattlegrid/web/hono'
import { Hono } from 'hono'
import { Herd } from './herd.js'
import { served } from './served.js'

/** A Hono app whose route is cached, on the server of the runtime. */
export async function check(): Promise<void> {
  const herd = new Herd(50)
  const app = new Hono()
  const cached = honoCache(createCache(), { app: () => app })
  app.use(async (_c, next) => {
    herd.arrive()
    await next()
  })
  app.get('/products/:id', cached({ ttl: '30s' }), async (c) => c.json(await herd.run(c.req.param('id') ?? '')))
  const server = await served((request) => app.fetch(request))
  try {
    await herd.visit(server.origin)
  } finally {
    await server.stop()
  }
}
