// A process that answers loads of one client each, and prints the bytes a request that only a major collection frees.
import { get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createCache } from '@cattlegrid/core'
import { cattlegrid } from '@cattlegrid/fastify'
import fastify from 'fastify'

const REQUESTS = 400

const app = fastify()
await app.register(cattlegrid, { cache: createCache() })
app.get('/:id', { config: { cache: { ttl: '1m' } } }, (request, reply) => {
  void reply.header('cache-control', 'private')
  return { url: request.url }
})
await app.listen({ host: '127.0.0.1', port: 0 })
const { port } = app.server.address() as AddressInfo

const request = (path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, agent: false }, (response) => {
      response.resume().once('end', resolve)
    }).once('error', reject)
  })

async function requests(name: string): Promise<void> {
  for (let id = 0; id < REQUESTS; id += 1) await request(`/${name}${id}`)
}

await requests('warm')
const collect = globalThis.gc as unknown as (options?: { type: 'minor' }) => void
collect()
await requests('counted')
collect({ type: 'minor' })
collect({ type: 'minor' })
const before = process.memoryUsage().heapUsed
collect()
process.stdout.write(String((before - process.memoryUsage().heapUsed) / REQUESTS))
await app.close()
