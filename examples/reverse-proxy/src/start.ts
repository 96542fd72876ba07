// ORIGIN=http://127.0.0.1:8000 PORT=8100 npm start --workspace examples/reverse-proxy
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createCache, memoryStore } from '@cattlegrid/core'
import { createProxy } from './proxy.ts'

const GRACE_MS = 5_000

const { ORIGIN = 'http://127.0.0.1:8000', PORT = '8100' } = process.env
const cache = createCache({ store: memoryStore({ maxEntries: 100_000, maxBytes: '256mb' }) })
const proxy = createProxy(new URL(ORIGIN), cache)
const server = createServer(proxy.app).listen(Number(PORT), '127.0.0.1')
await once(server, 'listening')
console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port} in front of ${ORIGIN}`)

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop())

/** Accepts no new connection, and finishes the responses under way. */
async function stop(): Promise<void> {
  setTimeout(() => server.closeAllConnections(), GRACE_MS).unref()
  server.close()
  server.closeIdleConnections()
  await once(server, 'close')
  await cache.close()
  proxy.close()
}
