import { createCache, type Store } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { createClient, createClientPool, createCluster, RESP_TYPES } from 'redis'

// Every way to make a single client fits, whatever its modules, protocol and type mapping.
export const stores: readonly Store[] = [
  redisStore({ client: createClient() }),
  redisStore({ client: createClient({ RESP: 2 }), namespace: 'shop' }),
  redisStore({
    client: createClient({ RESP: 3, commandOptions: { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } } }),
  }),
  redisStore({ client: createClient().withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer }) }),
  redisStore({ client: createClient({ modules: {}, scripts: {} }) }),
  redisStore({ url: 'redis://127.0.0.1:6379' }),
]

createCache({ store: redisStore({ client: createClient() }), ttl: '30s' })

// @ts-expect-error a pool cannot keep two commands in order
redisStore({ client: createClientPool() })
// @ts-expect-error a cluster names a key with every command
redisStore({ client: createCluster({ rootNodes: [] }) })
// @ts-expect-error an address goes into `url`
redisStore({ client: 'redis://127.0.0.1:6379' })
// @ts-expect-error no such option
redisStore({ url: 'redis://127.0.0.1:6379', prefix: 'shop' })
// @ts-expect-error it needs to know where Redis is
redisStore()
