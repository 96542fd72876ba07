import { describe, test } from '@jest/globals'
import { describeStoreContract } from '@cattlegrid/testkit'
import { openRedis } from '../../../../test/support/redis-under-test.ts'

describeStoreContract('Redis', openRedis, { describe, test })
