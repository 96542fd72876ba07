import { createCache } from '@cattlegrid/core'
import { cachedEventHandler } from '@cattlegrid/web/h3'
import { H3 } from 'h3'
import { Herd } from './herd.js'
import { served } from './served.js'

/** An h3 app whose route is cached, on the server of the runtime. */
export async function check(): Promise<void> {
  const herd = new Herd(50)
  const app = new H3()
  app.use(() => herd.arrive())
  const handler = cachedEventHandler(async (event) => await herd.run(event.context.params?.['id'] ?? ''), {
    cache: createCache(),
    ttl: '30s',
  })
  app.get('/products/:id', handler)
  const server = await served((request) => app.fetch(request))
  try {
    await herd.visit(server.origin)
  } finally {
    await server.stop()
  }
}
