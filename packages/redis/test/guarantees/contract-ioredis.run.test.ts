import { afterAll, beforeAll, describe, test } from '@jest/globals'
import { describeStoreContract } from '@cattlegrid/testkit'
import { Cluster, Redis } from 'ioredis6'
import { type RedisClusterServers, startRedisCluster } from '../../../../test/support/redis-cluster.ts'
import { addressOf, closing } from '../support/ioredis.ts'
import { openRedis, openStores, redisUrl } from '../../../../test/support/redis-under-test.ts'

let servers: RedisClusterServers

beforeAll(async () => {
  servers = await startRedisCluster()
})
afterAll(() => servers.stop())

describeStoreContract('Redis, by ioredis', () => openRedis(async () => closing(new Redis(redisUrl()))), {
  describe,
  test,
})

describeStoreContract(
  'a cluster, by an ioredis that reads from replicas',
  async () =>
    openStores(async () =>
      closing(
        new Cluster(
          servers.rootNodes.map(({ url }) => addressOf(url)),
          { scaleReads: 'slave' },
        ),
      ),
    ),
  { describe, test },
)
