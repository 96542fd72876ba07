import { describe, test } from '@jest/globals'
import { describeStoreContract } from '@cattlegrid/testkit'
import { openRedis } from './redis.ts'

describeStoreContract('Redis', openRedis, { describe, test })
