import type { AddressInfo } from 'node:net'
import { createCache } from '@cattlegrid/core'
import { expressCache } from '@cattlegrid/express'
import express from 'express'
import { Herd } from './herd.js'

/** An Express app whose route is cached. */
export async function check(): Promise<void> {
  const herd = new Herd()
  const cached = expressCache(createCache())
  const app = express()
  app.use((_req, _res, next) => {
    herd.arrive()
    next()
  })
  app.get('/products/:id', cached({ ttl: '30s' }), (req, res, next) => {
    herd.run(req.params.id).then((product) => res.json(product), next)
  })
  const server = app.listen(0, '127.0.0.1')
  await new Promise((listening) => server.once('listening', listening))
  try {
    await herd.visit(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.close()
    server.closeAllConnections()
  }
}
