import { createCache } from '@cattlegrid/core'
import { astroCache } from '@cattlegrid/web/astro'
import { Herd } from './herd.js'
import { served } from './served.js'

/** The provider of an Astro app, without Astro: it calls `onRequest` as that does. */
export async function check(): Promise<void> {
  const herd = new Herd(50)
  const { onRequest } = astroCache(createCache(), { paths: { '/*': { ttl: '30s' } } })()
  const server = await served(async (request) => {
    herd.arrive()
    const id = request.url.slice(request.url.lastIndexOf('/') + 1)
    return await onRequest({ request }, async () => Response.json(await herd.run(id)))
  })
  try {
    await herd.visit(server.origin)
  } finally {
    await server.stop()
  }
}
