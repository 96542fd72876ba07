import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openCache } from './cache.ts'
import { createCatalogue, type Catalogue } from './catalogue.ts'
import { connectAll, openPool } from './database.ts'
import { createExpressApp } from './express-app.ts'
import { createFastifyApp } from './fastify-app.ts'
import type { Cache } from '@cattlegrid/core'

export type Framework = 'express' | 'fastify'

export interface ApiOptions {
  readonly framework: Framework
  readonly databaseUrl: string
  /** Default: none; the cache lives in this process only. */
  readonly redisUrl?: string | undefined
  /** Prefix of every key in Redis. */
  readonly namespace?: string | undefined
  /** Default: 0, any free port. */
  readonly port?: number | undefined
}

export interface Api {
  readonly url: string
  /** Stops listening, waits for the requests under way, then closes the cache and the database pool. */
  readonly close: () => Promise<void>
}

interface Listening {
  readonly port: number
  readonly close: () => Promise<void>
}

const CONNECTIONS = 10
const REQUEST_GRACE_MS = 3_000

export async function startApi(options: ApiOptions): Promise<Api> {
  const { cache, close: closeCache } = await openCache(options.redisUrl, options.namespace ?? 'product-api')
  const pool = openPool(options.databaseUrl, CONNECTIONS)
  await connectAll(pool, CONNECTIONS)
  const listen = options.framework === 'express' ? listenExpress : listenFastify
  const { port, close } = await listen(createCatalogue(pool, cache, options.framework), cache, options.port ?? 0)
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      await close()
      await closeCache()
      await pool.end()
    },
  }
}

async function listenExpress(catalogue: Catalogue, cache: Cache, port: number): Promise<Listening> {
  const server = createServer(createExpressApp(catalogue, cache))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return { port: portOf(server), close: () => closeServer(server) }
}

async function listenFastify(catalogue: Catalogue, cache: Cache, port: number): Promise<Listening> {
  const app = await createFastifyApp(catalogue, cache)
  await app.listen({ port, host: '127.0.0.1' })
  return { port: portOf(app.server), close: () => app.close() }
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)))
    server.closeIdleConnections()
    // A client that keeps its connection busy must not keep the process alive.
    setTimeout(() => server.closeAllConnections(), REQUEST_GRACE_MS).unref()
  })
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}
