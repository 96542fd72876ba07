import { describe, test } from '@jest/globals'
import { describeStoreContract } from '@cattlegrid/testkit'
import { createClient } from 'redis'
import { openRedisBy, redisUrl } from './redis.ts'

const open = openRedisBy(() => createClient({ url: redisUrl(), RESP: 2 }))
describeStoreContract('Redis, spoken to in the older protocol', open, { describe, test })
