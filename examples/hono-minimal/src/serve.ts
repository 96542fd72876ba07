// The same route without a framework, on Bun and on Deno.
import { setTimeout as sleep } from 'node:timers/promises'
import { createCache } from '@cattlegrid/core'
import { cachedHandler } from '@cattlegrid/web'

interface Settings {
  readonly port: number
}
type Fetch = (request: Request) => Promise<Response>

// The two runtimes bring the types of these.
declare const Bun: { serve(options: Settings & { readonly fetch: Fetch }): unknown } | undefined
declare const Deno: { serve(settings: Settings, fetch: Fetch): unknown } | undefined

const cache = createCache()
let runs = 0

const products = cachedHandler(
  async () => {
    runs += 1
    console.log(`reading the products, run ${runs}`)
    await sleep(200)
    return Response.json([{ name: 'gate', price: 1999 }])
  },
  { cache, ttl: '30s', staleWhileRevalidate: '5m', cacheStatus: true },
)

async function fetch(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  return pathname === '/products' ? await products(request) : new Response('no such page', { status: 404 })
}

const port = Number(process.env['PORT'] ?? 3000)
if (typeof Bun === 'undefined') Deno?.serve({ port }, fetch)
else Bun.serve({ port, fetch })
console.log(`http://localhost:${port}/products`)
