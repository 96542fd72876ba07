import express from 'express'
import routeCache from 'route-cache'
import { findProduct, setPrice } from './database.ts'

export const app = express()
app.get('/products/:id', routeCache.cacheSeconds(30), async (req, res) => {
  res.json(await findProduct(req.params.id))
})
app.put('/products/:id', express.json(), async (req, res) => {
  await setPrice(req.params.id, req.body.price)
  routeCache.removeCache(`/products/${req.params.id}`)
  res.sendStatus(204)
})
