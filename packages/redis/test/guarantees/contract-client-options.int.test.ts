import { describe, test } from '@jest/globals'
import { describeStoreContract } from '@cattlegrid/testkit'
import { createClient, RESP_TYPES } from 'redis'
import { openRedisBy, redisUrl } from '../../../../test/support/redis-under-test.ts'

const commandOptions = {
  timeout: 1,
  asap: true,
  typeMapping: { [RESP_TYPES.NUMBER]: String, [RESP_TYPES.BLOB_STRING]: Buffer, [RESP_TYPES.SIMPLE_STRING]: Buffer },
}

// The client makes a class of 500 commands for its options, and remembers the last class only: duplicates share one.
const client = createClient({ url: redisUrl(), RESP: 2, commandOptions })
const open = openRedisBy(() => client.duplicate())
describeStoreContract('Redis, in the older protocol, by a client whose own options change the replies', open, {
  describe,
  test,
})
