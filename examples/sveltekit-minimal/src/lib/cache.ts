import { createCache, memoryStore } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'

const { REDIS_URL } = process.env

// The memory store serves one process. On Redis, all processes with this namespace share their entries.
export const cache = createCache({
  store: REDIS_URL ? redisStore({ url: REDIS_URL, namespace: 'shop' }) : memoryStore(),
})

// adapter-node has finished the requests under way by then.
process.on('sveltekit:shutdown', () => void cache.close())
