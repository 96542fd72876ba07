import { createCache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { Cluster, Redis } from 'ioredis6'

// A program that ends its own client, and nothing else.
const [, , url = ''] = process.argv
if (url === '') await endCluster()
else await endClient()

async function endClient(): Promise<void> {
  const client = new Redis(url)
  const cache = createCache({ store: redisStore({ client }), ttl: '1m' })
  await cache.ready()
  await cache.getOrSet('k', () => 'value')
  await client.quit()
}

/** Of its nodes, none is there. */
async function endCluster(): Promise<void> {
  const client = new Cluster([{ host: '127.0.0.1', port: 1 }])
  client.on('error', () => undefined)
  const cache = createCache({ store: redisStore({ client }), ttl: '1m' })
  await cache.getOrSet('k', () => 'value')
  await new Promise((resolve) => void client.on('reconnecting', resolve))
  client.disconnect()
}
