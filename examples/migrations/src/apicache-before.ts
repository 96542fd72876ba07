import apicache from 'apicache'
import express from 'express'
import { findProduct, setPrice } from './database.ts'

export const app = express()
app.get('/products/:id', apicache.middleware('30 seconds'), async (req, res) => {
  Object.assign(req, { apicacheGroup: `product:${req.params['id']}` })
  res.json(await findProduct(req.params['id']))
})
app.put('/products/:id', express.json(), async (req, res) => {
  await setPrice(req.params.id, req.body.price)
  apicache.clear(`product:${req.params.id}`)
  res.sendStatus(204)
})
