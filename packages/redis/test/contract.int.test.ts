import { describe, test } from '@jest/globals'
import type { RedisClient } from '@cattlegrid/redis'
import { describeStoreContract } from '@cattlegrid/testkit'
import { createClient, RESP_TYPES } from 'redis'
import { openRedis, redisUrl } from './redis.ts'

describeStoreContract('Redis', openRedis, { describe, test })

/** By a client with options. */
function openBy(make: () => RedisClient): typeof openRedis {
  return () =>
    openRedis(async () => {
      const client = make()
      client.on('error', () => undefined)
      await client.connect()
      return client
    })
}

describeStoreContract(
  'Redis, spoken to in the older protocol',
  openBy(() => createClient({ url: redisUrl(), RESP: 2 })),
  { describe, test },
)

const odd = {
  timeout: 1,
  asap: true,
  typeMapping: { [RESP_TYPES.NUMBER]: String, [RESP_TYPES.BLOB_STRING]: Buffer, [RESP_TYPES.SIMPLE_STRING]: Buffer },
}

describeStoreContract(
  'Redis, by a client whose own options change the replies',
  openBy(() => createClient({ url: redisUrl(), commandOptions: odd })),
  { describe, test },
)
