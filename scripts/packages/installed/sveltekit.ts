import { createCache } from '@cattlegrid/core'
import { cachedHandle, type SvelteKitEvent } from '@cattlegrid/web/sveltekit'
import { Herd } from './herd.js'
import { served } from './served.js'

/** The hook of a SvelteKit app, without SvelteKit: an event has what that gives it. */
export async function check(): Promise<void> {
  const herd = new Herd(50)
  const handle = cachedHandle({ cache: createCache(), routes: { '/products/[id]': { ttl: '30s' } } })
  const resolve = async ({ params }: SvelteKitEvent): Promise<Response> =>
    Response.json(await herd.run(params['id'] ?? ''))
  const server = await served(async (request) => {
    herd.arrive()
    return await handle({ event: eventOf(request), resolve })
  })
  try {
    await herd.visit(server.origin)
  } finally {
    await server.stop()
  }
}

function eventOf(request: Request): SvelteKitEvent {
  const url = new URL(request.url)
  return {
    request,
    url,
    params: { id: url.pathname.slice(url.pathname.lastIndexOf('/') + 1) },
    route: { id: '/products/[id]' },
    cookies: { get: () => undefined, getAll: () => [] },
    locals: {},
    isDataRequest: false,
    isSubRequest: false,
    fetch,
    setHeaders: () => undefined,
    getClientAddress: () => '127.0.0.1',
  }
}
