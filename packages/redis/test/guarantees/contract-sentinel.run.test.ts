import { afterAll, beforeAll, describe, test } from '@jest/globals'
import { describeStoreContract } from '@cattlegrid/testkit'
import { createSentinel } from 'redis'
import { type RedisSentinelServers, startRedisSentinel } from '../../../../test/support/redis-sentinel.ts'
import { openStores, type View } from '../../../../test/support/redis-under-test.ts'

let servers: RedisSentinelServers
// Connecting asks three sentinels and takes its time: the tests share what they go through, and each has stores of its own.
let views: readonly View[]
let opened = 0

beforeAll(async () => {
  servers = await startRedisSentinel()
  views = await Promise.all([connect({}), connect({ RESP: 2, replicaPoolSize: 1 })])
})
afterAll(async () => {
  await Promise.all(views.map((view) => view.close()))
  await servers.stop()
})

async function connect(options: { readonly RESP?: 2 | 3; readonly replicaPoolSize?: number }) {
  const { name, sentinelRootNodes } = servers
  const sentinel = createSentinel({ name, sentinelRootNodes: [...sentinelRootNodes], reserveClient: true, ...options })
  sentinel.on('error', () => undefined)
  return await sentinel.connect()
}

/** Two processes that speak different protocols, and one of them reads from replicas where it may. */
async function nextView(): Promise<View> {
  opened += 1
  const shared = views[opened % views.length]
  if (shared === undefined) throw new Error('Nothing is connected')
  return Object.create(shared, { close: { value: () => Promise.resolve() } }) as View
}

describeStoreContract('a master that Sentinel names', async () => openStores(nextView), { describe, test })
