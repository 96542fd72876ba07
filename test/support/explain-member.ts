import { createCache } from '@cattlegrid/core'
import { explain } from '@cattlegrid/explain'
import { redisStore } from '@cattlegrid/redis'
import { createClient } from 'redis'

// A process that leads the load of a key which never ends.
const [, , url = '', namespace = '', key = ''] = process.argv
const client = createClient({ url })
client.on('error', () => undefined)
await client.connect()
const cache = createCache({
  name: 'leader',
  store: redisStore({ client, namespace }),
  ttl: '1m',
  lease: { duration: '1m' },
})
explain(cache)
await cache.ready()
void cache.getOrSet(key, () => {
  process.stdout.write('leads\n')
  return new Promise(() => {})
})
