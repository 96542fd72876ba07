// A program that calls a cache and asks a cached route twice, for debug-log.run.test.ts.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createCache } from '@cattlegrid/core'
import { expressCache } from '@cattlegrid/express'
import express from 'express'

const cache = createCache({ name: 'products', ttl: '30s' })
const app = express()
app.get('/products/:id', expressCache(cache)({ ttl: '30s' }), (_req, res) => void res.json({ id: 7 }))
const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/products/7`
await cache.getOrSet('product:7', () => 'a secret value')
await cache.getOrSet('product:7', () => 'a secret value')
const failing = cache.getOrSet('product:8', () => Promise.reject(Object.assign(new Error('a secret'), { code: 'E8' })))
await failing.catch(() => undefined)
for (let turn = 0; turn < 2; turn += 1) await (await fetch(url)).arrayBuffer()
await cache.close()
server.close()
server.closeAllConnections()
