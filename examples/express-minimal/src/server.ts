import { setTimeout as sleep } from 'node:timers/promises'
import { createCache, memoryStore } from '@cattlegrid/core'
import { expressCache } from '@cattlegrid/express'
import { redisStore } from '@cattlegrid/redis'
import express from 'express'

const { PORT = '3000', REDIS_URL } = process.env

// The memory store serves one process. On Redis, all processes with this namespace share their entries.
const store = REDIS_URL ? redisStore({ url: REDIS_URL, namespace: 'shop' }) : memoryStore()
const cache = createCache({ store })
const cached = expressCache(cache, { cacheStatus: true })

// Stands for a slow database.
const products = [{ name: 'gate', price: 1999 }]

const app = express()

app.get('/products', cached({ ttl: '30s', staleWhileRevalidate: '5m', tags: ['products'] }), async (_req, res) => {
  console.log('reading the products')
  await sleep(200)
  res.json(products)
})

app.post('/price-rise', async (_req, res) => {
  for (const product of products) product.price += 100
  // Write first, then invalidate: a handler run that read the old prices can no longer store its response.
  await cache.invalidateTags(['products'])
  res.sendStatus(204)
})

const server = app.listen(Number(PORT), (error) => {
  if (error) throw error
  console.log(`http://localhost:${PORT}/products`)
})

process.once('SIGTERM', () => {
  // Finish the requests under way, then let the running loads commit and give the leases back.
  server.close(() => void cache.close())
})
