import { createCache } from '@cattlegrid/core'
import { expressCache } from '@cattlegrid/express'
import { redisStore } from '@cattlegrid/redis'
import express from 'express'
import { findProduct, setPrice } from './database.ts'

const cache = createCache({ store: redisStore({ url: process.env['REDIS_URL'] ?? '', namespace: 'shop' }) })
const cached = expressCache(cache)

export const app = express()
app.get('/products/:id', cached({ ttl: '30s', tags: (req) => [`product:${req.params['id']}`] }), async (req, res) => {
  res.json(await findProduct(req.params.id))
})
app.put('/products/:id', express.json(), async (req, res) => {
  await setPrice(req.params.id, req.body.price)
  await cache.invalidateTags([`product:${req.params.id}`])
  res.sendStatus(204)
})
