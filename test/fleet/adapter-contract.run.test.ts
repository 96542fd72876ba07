import { randomUUID } from 'node:crypto'
import { redisStore } from '@cattlegrid/redis'
import { type AdapterFactory, type ContractStore, describeAdapterContract } from '@cattlegrid/testkit'
import { describe, test } from '@jest/globals'
import { createClient } from 'redis'
import { startExpress } from '../../packages/express/test/support/contract-app.ts'
import { startFastify } from '../../packages/fastify/test/support/contract-app.ts'

/** A namespace of its own on the test run's Redis, removed afterwards. */
async function openRedis(): Promise<ContractStore> {
  const url = process.env['CATTLEGRID_TEST_REDIS_URL']
  if (url === undefined) throw new Error('CATTLEGRID_TEST_REDIS_URL is not set: run the tests through jest')
  const client = createClient({ url })
  client.on('error', () => undefined)
  await client.connect()
  const namespace = `test:${randomUUID()}`
  return {
    store: redisStore({ client, namespace }),
    async close() {
      for await (const keys of client.scanIterator({ MATCH: `${namespace}:*`, COUNT: 1000 }))
        if (keys.length > 0) await client.unlink(keys)
      await client.close()
    },
  }
}

const express: AdapterFactory = (cache, routes) => startExpress(cache, routes)

describeAdapterContract('Express, over Redis', express, { describe, test }, openRedis)
describeAdapterContract('Fastify, over Redis', startFastify, { describe, test }, openRedis)
