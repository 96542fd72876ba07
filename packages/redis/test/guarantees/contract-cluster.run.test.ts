import { afterAll, beforeAll, describe, test } from '@jest/globals'
import { describeStoreContract } from '@cattlegrid/testkit'
import { createCluster } from 'redis'
import { type RedisClusterServers, startRedisCluster } from '../../../../test/support/redis-cluster.ts'
import { openStores } from '../../../../test/support/redis-under-test.ts'

let servers: RedisClusterServers

beforeAll(async () => {
  servers = await startRedisCluster()
})
afterAll(() => servers.stop())

async function connect(options: { readonly RESP?: 2 | 3; readonly useReplicas?: boolean } = {}) {
  const cluster = createCluster({ rootNodes: [...servers.rootNodes], ...options })
  cluster.on('error', () => undefined)
  return await cluster.connect()
}

describeStoreContract('a cluster', async () => openStores(() => connect()), { describe, test })

describeStoreContract(
  'a cluster with sharded notices',
  async () => openStores(() => connect(), { shardedNotices: true }),
  {
    describe,
    test,
  },
)

describeStoreContract(
  'a cluster, by a client that reads from replicas in the older protocol',
  async () => openStores(() => connect({ RESP: 2, useReplicas: true })),
  { describe, test },
)
