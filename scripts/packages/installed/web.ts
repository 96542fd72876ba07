import { createCache } from '@cattlegrid/core'
import { cachedHandler } from '@cattlegrid/web'
import { Herd } from './herd.js'
import { served } from './served.js'

/** A handler from `Request` to `Response`, on the server of the runtime. */
export async function check(): Promise<void> {
  const herd = new Herd(50)
  const cached = cachedHandler(
    async ({ url }: Request) => Response.json(await herd.run(url.slice(url.lastIndexOf('/') + 1))),
    { cache: createCache(), ttl: '30s' },
  )
  const server = await served((request) => {
    herd.arrive()
    return cached(request)
  })
  try {
    await herd.visit(server.origin)
  } finally {
    await server.stop()
  }
}
