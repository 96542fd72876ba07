import { cache } from '../../lib/cache.ts'
import { raisePrices } from '../../lib/products.ts'

export async function POST() {
  raisePrices()
  // Write first, then invalidate: a handler run that read the old prices can no longer store its response.
  await cache.invalidateTags(['products'])
  return new Response(null, { status: 204 })
}
