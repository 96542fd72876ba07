import type { APIRoute } from 'astro'
import { raisePrices } from '../lib/products.ts'

export const POST: APIRoute = async ({ cache }) => {
  raisePrices()
  // Write first, then invalidate: a page that read the old prices can no longer be stored.
  await cache.invalidate({ tags: ['products'] })
  return new Response(null, { status: 204 })
}
