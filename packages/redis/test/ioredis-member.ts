import { createCache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { Redis } from 'ioredis'

// A program that ends its own client, and nothing else.
const [, , url = ''] = process.argv
const client = new Redis(url)
const cache = createCache({ store: redisStore({ client }), ttl: '1m' })
await cache.ready()
await cache.getOrSet('k', () => 'value')
await client.quit()
