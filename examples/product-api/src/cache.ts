import { createCache, type Cache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { createClient } from 'redis'

export interface OpenCache {
  readonly cache: Cache
  readonly close: () => Promise<void>
}

/** One cache for the whole fleet in Redis; without a URL, one in the memory of this process. */
export async function openCache(redisUrl: string | undefined, namespace: string): Promise<OpenCache> {
  if (redisUrl === undefined) {
    const cache = createCache()
    return { cache, close: () => cache.close() }
  }
  const client = createClient({ url: redisUrl })
  // node-redis reports every attempt to connect again; one line for each outage is enough.
  let lost = false
  client.on('ready', () => (lost = false))
  client.on('error', (error: Error) => {
    if (!lost) console.error(`redis is away: ${error.message}`)
    lost = true
  })
  await client.connect()
  // Longer than the default: here Redis shares two cores with the database, the APIs and those who load them.
  const cache = createCache({ store: redisStore({ client, namespace }), storeTimeout: '2s' })
  return {
    cache,
    close: async () => {
      await cache.close()
      await client.close()
    },
  }
}
