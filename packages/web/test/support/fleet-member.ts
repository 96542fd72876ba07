// One process of a fleet: an app of Hono on Node, with its own cache over the Redis of all.
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createCache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { isRefresh } from '@cattlegrid/web'
import { honoCache } from '@cattlegrid/web/hono'
import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'
import { createClient } from 'redis'

/** What the test asks of a member: the port of its server, or how many clients have reached it. */
export type Command = 'port' | 'requests'

const client = createClient({ url: process.env['FLEET_REDIS'] ?? '' })
client.on('error', () => {})
await client.connect()
const cache = createCache({
  // A Redis that gets no turn on a busy machine is slow, not away.
  storeTimeout: '20s',
  waitTimeout: '60s',
  loadTimeout: '60s',
  store: redisStore({ client, namespace: 'fleet' }),
})

let requests = 0
const app = new Hono()
const cached = honoCache(cache, { app: () => app, key: { host: false } })
app.use(async (c, next) => {
  if (!isRefresh(c.req.raw)) requests += 1
  await next()
})
app.get('/value/:name', cached({ ttl: '1h' }), async (c) => {
  const response = await fetch(`${process.env['FLEET_ORIGIN'] ?? ''}/${c.req.param('name')}`)
  return c.text(await response.text())
})

const server = createAdaptorServer(app) as Server
// A connection that is closed for idleness just when a slow client uses it again would look like a failure.
server.keepAliveTimeout = 0
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

process.on('message', ({ id, command }: { id: number; command: Command }) => {
  const result = command === 'port' ? (server.address() as AddressInfo).port : requests
  process.send?.({ id, result })
})
process.on('disconnect', () => process.exit())
process.send?.({ ready: true })
