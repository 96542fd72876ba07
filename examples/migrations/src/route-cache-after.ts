import { createCache } from '@cattlegrid/core'
import { expressCache } from '@cattlegrid/express'
import { redisStore } from '@cattlegrid/redis'
import express from 'express'
import { findProduct, setPrice } from './database.ts'

const cache = createCache({ store: redisStore({ url: process.env['REDIS_URL'] ?? '', namespace: 'shop' }) })
// A write that succeeds invalidates its URL.
const cached = expressCache(cache, { ttl: '30s', invalidateOnUnsafe: true })

export const app = express()
app.get('/products/:id', cached(), async (req, res) => {
  res.json(await findProduct(req.params.id))
})
app.put('/products/:id', cached(), express.json(), async (req, res) => {
  await setPrice(req.params.id, req.body.price)
  res.sendStatus(204)
})
