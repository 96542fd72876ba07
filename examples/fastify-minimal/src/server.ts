import { setTimeout as sleep } from 'node:timers/promises'
import { createCache, memoryStore } from '@cattlegrid/core'
import cattlegrid from '@cattlegrid/fastify'
import { redisStore } from '@cattlegrid/redis'
import fastify from 'fastify'

const { PORT = '3000', REDIS_URL } = process.env

// The memory store serves one process. On Redis, all processes with this namespace share their entries.
const store = REDIS_URL ? redisStore({ url: REDIS_URL, namespace: 'shop' }) : memoryStore()
const cache = createCache({ store })

// Stands for a slow database.
const products = [{ name: 'gate', price: 1999 }]

const app = fastify()

// Awaited before the first route: the plugin sees only the routes that are declared after it.
await app.register(cattlegrid, { cache, defaults: { cacheStatus: true } })

app.get(
  '/products',
  { config: { cache: { ttl: '30s', staleWhileRevalidate: '5m', tags: ['products'] } } },
  async () => {
    console.log('reading the products')
    await sleep(200)
    return products
  },
)

app.post('/price-rise', async (_request, reply) => {
  for (const product of products) product.price += 100
  // Write first, then invalidate: a handler run that read the old prices can no longer store its response.
  await cache.invalidateTags(['products'])
  return reply.code(204).send()
})

await app.listen({ port: Number(PORT) })
console.log(`http://localhost:${PORT}/products`)

process.once('SIGTERM', () => {
  // Finishes the requests under way. Then the plugin closes the cache: the running loads commit and give the leases back.
  void app.close()
})
