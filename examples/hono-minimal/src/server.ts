import { setTimeout as sleep } from 'node:timers/promises'
import { createCache, memoryStore } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { honoCache } from '@cattlegrid/web/hono'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'

const { PORT = '3000', REDIS_URL } = process.env

// The memory store serves one process. On Redis, all processes with this namespace share their entries.
const store = REDIS_URL ? redisStore({ url: REDIS_URL, namespace: 'shop' }) : memoryStore()
const cache = createCache({ store })
const app = new Hono()
// What refreshes a stale response goes through the whole app.
const cached = honoCache(cache, { app: () => app, cacheStatus: true })

// Stands for a slow database.
const products = [{ name: 'gate', price: 1999 }]

app.get('/products', cached({ ttl: '30s', staleWhileRevalidate: '5m', tags: ['products'] }), async (c) => {
  console.log('reading the products')
  await sleep(200)
  return c.json(products)
})

app.post('/price-rise', async (c) => {
  for (const product of products) product.price += 100
  // Write first, then invalidate: a handler run that read the old prices can no longer store its response.
  await cache.invalidateTags(['products'])
  return c.body(null, 204)
})

const server = serve({ fetch: app.fetch, port: Number(PORT) }, () => {
  console.log(`http://localhost:${PORT}/products`)
})

process.once('SIGTERM', () => {
  // Finish the requests under way, then let the running loads commit and give the leases back.
  server.close(() => void cache.close())
})
