import { createCache, type Store } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { Cluster as OldCluster, Redis as OldRedis } from 'ioredis'
import { Cluster, Redis } from 'ioredis6'
import { Cluster as ValkeyCluster, Redis as Valkey } from 'iovalkey'
import { createClient, createClientPool, createCluster, createSentinel, RESP_TYPES } from 'redis'

// Every way to make a client, a cluster or a Sentinel client fits, whatever its modules, protocol and type mapping.
export const stores: readonly Store[] = [
  redisStore({ client: createClient() }),
  redisStore({ client: createClient({ RESP: 2 }), namespace: 'shop' }),
  redisStore({
    client: createClient({ RESP: 3, commandOptions: { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } } }),
  }),
  redisStore({ client: createClient().withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer }) }),
  redisStore({ client: createClient({ modules: {}, scripts: {} }) }),
  redisStore({ client: createCluster({ rootNodes: [] }) }),
  redisStore({ client: createCluster({ rootNodes: [], RESP: 2, useReplicas: true, minimizeConnections: true }) }),
  redisStore({
    client: createCluster({ rootNodes: [], modules: {}, scripts: {} }).withTypeMapping({ [RESP_TYPES.NUMBER]: String }),
  }),
  redisStore({ client: createSentinel({ name: 'shop', sentinelRootNodes: [], reserveClient: true }) }),
  redisStore({ client: createSentinel({ name: 'shop', sentinelRootNodes: [], RESP: 2, modules: {} }) }),
  redisStore({ client: new Redis({ lazyConnect: true }) }),
  redisStore({ client: new Redis({ lazyConnect: true, protocol: 3, replyMapping: 'resp3' }) }),
  redisStore({
    client: new Redis({ lazyConnect: true, sentinels: [{ host: '127.0.0.1', port: 26_379 }], name: 'shop' }),
  }),
  redisStore({ client: new Cluster([{ host: '127.0.0.1', port: 7000 }], { lazyConnect: true }) }),
  redisStore({ client: new OldRedis({ lazyConnect: true }) }),
  redisStore({ client: new OldCluster([], { lazyConnect: true, scaleReads: 'slave' }) }),
  redisStore({ client: new Valkey({ lazyConnect: true }) }),
  redisStore({ client: new ValkeyCluster([], { lazyConnect: true }) }),
  redisStore({ url: 'redis://127.0.0.1:6379', watchdog: '500ms' }),
  redisStore({ url: 'redis://127.0.0.1:6379', watchdog: false }),
]

createCache({ store: redisStore({ client: createClient() }), ttl: '30s' })

// @ts-expect-error a pool cannot keep two commands in order
redisStore({ client: createClientPool() })
// @ts-expect-error a pipeline is no client
redisStore({ client: new Redis({ lazyConnect: true }).pipeline() })
// @ts-expect-error an address goes into `url`
redisStore({ client: 'redis://127.0.0.1:6379' })
// @ts-expect-error no such option
redisStore({ url: 'redis://127.0.0.1:6379', prefix: 'shop' })
// @ts-expect-error it needs to know where Redis is
redisStore()
