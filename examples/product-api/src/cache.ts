import { createCache, type Cache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { createClient } from 'redis'

export interface OpenCache {
  readonly cache: Cache
  readonly close: () => Promise<void>
}

/** In the metrics and events of each process. */
const NAME = 'product-api'

/** A cache in Redis, shared by all processes; without a URL, a cache in the memory of this process. */
export async function openCache(redisUrl: string | undefined, namespace: string): Promise<OpenCache> {
  if (redisUrl === undefined) {
    const cache = createCache({ name: NAME })
    return { cache, close: () => cache.close() }
  }
  const client = createClient({ url: redisUrl })
  // node-redis reports every attempt to reconnect; one line for each outage is enough.
  let lost = false
  client.on('ready', () => (lost = false))
  client.on('error', (error: Error) => {
    if (!lost) console.error(`Redis is away: ${error.message}`)
    lost = true
  })
  await client.connect()
  // Longer than the default: in the demo Redis shares the machine with the database, the APIs and the load generator.
  const cache = createCache({ name: NAME, store: redisStore({ client, namespace }), storeTimeout: '2s' })
  return {
    cache,
    close: async () => {
      await cache.close()
      await client.close()
    },
  }
}
