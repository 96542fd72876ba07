import { setTimeout as sleep } from 'node:timers/promises'
import { createCache, memoryStore } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { cachedEventHandler } from '@cattlegrid/web/h3'
import { H3, serve } from 'h3'

const { PORT = '3000', REDIS_URL } = process.env

// The memory store serves one process. On Redis, all processes with this namespace share their entries.
const store = REDIS_URL ? redisStore({ url: REDIS_URL, namespace: 'shop' }) : memoryStore()
const cache = createCache({ store })
const app = new H3()

// Stands for a slow database.
const products = [{ name: 'gate', price: 1999 }]

const readProducts = async () => {
  console.log('reading the products')
  await sleep(200)
  return products
}

app.get(
  '/products',
  cachedEventHandler(readProducts, {
    cache,
    ttl: '30s',
    staleWhileRevalidate: '5m',
    tags: ['products'],
    cacheStatus: true,
  }),
)

app.post('/price-rise', async (event) => {
  for (const product of products) product.price += 100
  // Write first, then invalidate: a handler run that read the old prices can no longer store its response.
  await cache.invalidateTags(['products'])
  event.res.status = 204
  return null
})

const server = serve(app, { port: Number(PORT), gracefulShutdown: false, silent: true })
await server.ready()
console.log(`http://localhost:${PORT}/products`)

process.once('SIGTERM', () => {
  // Finish the requests under way, then let the running loads commit and give the leases back.
  void server.close().then(() => cache.close())
})
