import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { json } from '@cattlegrid/core'
import type { Notice } from '@cattlegrid/core/extend'
import { redisStore } from '@cattlegrid/redis'
import { createSentinel } from 'redis'
import { type RedisSentinelServers, startRedisSentinel } from '../../../../test/support/redis-sentinel.ts'
import { entryOf, found, lead, put } from '../../../../test/support/entries.ts'
import { type Client, connect } from '../../../../test/support/redis-under-test.ts'
import { until } from '../../../../test/support/until.ts'

let servers: RedisSentinelServers
let admins: readonly Client[] = []
const ends: (() => unknown)[] = []

beforeEach(async () => {
  servers = await startRedisSentinel()
  admins = await Promise.all([servers.master, servers.replica].map(({ url }) => connect(url)))
  for (const admin of admins) await admin.aclSetUser('app', ['on', '>secret', '~*', '&*', '+@all'])
}, 60_000)
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
  for (const admin of admins) admin.destroy()
  await servers.stop()
})

function sentinelOf() {
  const { name, sentinelRootNodes } = servers
  const sentinel = createSentinel({
    name,
    sentinelRootNodes: [...sentinelRootNodes],
    reserveClient: true,
    nodeClientOptions: { username: 'app', password: 'secret' },
  })
  sentinel.on('error', () => undefined)
  ends.push(() => sentinel.destroy())
  return sentinel
}

describe('a store on the master that Sentinel names', () => {
  test('is away until its client is connected; then it works, and subscribes with the same credentials', async () => {
    const sentinel = sentinelOf()
    const store = redisStore({ client: sentinel })
    ends.push(() => store.close())
    const notices: Notice[] = []
    store.watch((notice) => void notices.push(notice))
    expect((await store.read('k', json)).kind).toBe('away')
    await until(() => notices.length > 0)
    expect(notices).toEqual([{ kind: 'warning', message: expect.stringContaining('not open') }])
    await sentinel.connect()
    await until(() => notices.some(({ kind }) => kind === 'connected'))
    const pubsub = (await admins[0]?.sendCommand(['CLIENT', 'LIST', 'TYPE', 'PUBSUB'])) as string
    expect(pubsub.split('\n').filter((line) => line.includes('user=app'))).toHaveLength(1)
    await put(store, 'k', 1)
    await until(() => notices.some(({ kind }) => kind === 'committed'))
  })

  test('follows a new master, wake-ups included, and a replicated lease may still commit there', async () => {
    const sentinel = sentinelOf()
    await sentinel.connect()
    const store = redisStore({ client: sentinel })
    ends.push(() => store.close())
    const kinds: Notice['kind'][] = []
    store.watch(({ kind }) => void kinds.push(kind))
    await until(() => kinds.includes('connected'))
    const replicated = await lead(store, 'replicated')
    await until(async () => (await admins[1]?.exists('cattlegrid:{replicated}:l')) === 1)
    await servers.killMaster()
    await until(() => sentinel.getMasterNode() === undefined)
    expect((await store.read('k', json)).kind).toBe('away')
    await until(() => kinds.lastIndexOf('connected') > kinds.indexOf('disconnected'))
    await until(async () => (await store.ping()).kind === 'done')
    expect((await store.commit(replicated, entryOf('kept'), json)).kind).toBe('stored')
    expect((await found(store, 'replicated')).value).toBe('kept')
  }, 60_000)
})
