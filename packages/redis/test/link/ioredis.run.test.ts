import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { once } from 'node:events'
import { spawn } from 'node:child_process'
import { type AddressInfo, createConnection, createServer } from 'node:net'
import { resolve } from 'node:path'
import { pipeline } from 'node:stream'
import { json, type Store } from '@cattlegrid/core'
import type { Notice } from '@cattlegrid/core/extend'
import { redisStore, type RedisStoreOptions } from '@cattlegrid/redis'
import { type RedisServer, startRedis } from '@cattlegrid/testkit'
import { Cluster, Redis } from 'ioredis6'
import { bundled } from '../../../../test/support/bundled.ts'
import { type FaultProxy, startFaultProxy } from '../../../../test/support/fault-proxy.ts'
import { askRedis } from '../../../../test/support/redis-ask.ts'
import { startRedisCluster } from '../../../../test/support/redis-cluster.ts'
import { startRedisSentinel } from '../../../../test/support/redis-sentinel.ts'
import { entryOf, found, lead, put, request } from '../../../../test/support/entries.ts'
import { addressOf, closing } from '../support/ioredis.ts'
import { type Client, connect } from '../../../../test/support/redis-under-test.ts'
import { until } from '../../../../test/support/until.ts'

let server: RedisServer
let proxy: FaultProxy
let admin: Client
const ends: (() => unknown)[] = []

beforeEach(async () => {
  server = await startRedis({ own: true })
  proxy = await startFaultProxy({ target: { port: server.port } })
  admin = await connect(server.url)
})
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
  admin.destroy()
  await proxy.close()
  await server.stop()
})

/** The user’s client, by the proxy. */
function clientOf(options: object = {}): Redis {
  const client = new Redis({ ...options, host: '127.0.0.1', port: proxy.port })
  client.on('error', () => undefined)
  ends.push(() => client.disconnect())
  return client
}

function open(options: RedisStoreOptions): { readonly store: Store; readonly kinds: readonly Notice['kind'][] } {
  const store = redisStore(options)
  ends.push(() => store.close())
  const kinds: Notice['kind'][] = []
  store.watch(({ kind }) => void kinds.push(kind))
  return { store, kinds }
}

const connections = async (): Promise<number> => (await admin.clientList()).length - 1
const isDone = async (store: Store): Promise<boolean> => (await store.ping()).kind === 'done'

describe('the user’s client of ioredis', () => {
  test('may have any options: the store has two connections of its own with its own settings, and closes them', async () => {
    const client = clientOf({
      keyPrefix: 'shop:',
      stringNumbers: true,
      commandTimeout: 5000,
      enableAutoPipelining: true,
      showFriendlyErrorStack: true,
      replyMapping: 'resp3',
      db: 1,
    })
    const { store, kinds } = open({ client })
    await until(() => kinds.includes('connected'))
    await put(store, 'k', 'v'.repeat(100_000), { tags: ['t'] })
    expect((await found(store, 'k')).value).toHaveLength(100_000)
    const failed = { kind: 'failed', failure: { name: 'E', code: 'c' }, cooldown: 60_000, attempts: 2 } as const
    await store.release(await lead(store, 'failed'), failed)
    expect(await store.inspect('failed')).toMatchObject({ cooldown: { attempts: 2 } })
    await admin.select(1)
    expect(await admin.exists('cattlegrid:{k}')).toBe(1)
    expect(await connections()).toBe(3)
    await store.close()
    await until(async () => (await connections()) === 1)
    expect(client.status).toBe('ready')
  })

  test('is waited for: until it is told to connect, the store is away and says so', async () => {
    const client = clientOf({ lazyConnect: true })
    const { store, kinds } = open({ client })
    expect((await store.read('k', json)).kind).toBe('away')
    await until(() => kinds.includes('warning'))
    expect(await connections()).toBe(0)
    await client.connect()
    await until(() => isDone(store))
    await until(() => kinds.includes('connected'))
  })

  test('ends the store’s connections when it ends, and opens them again when it connects', async () => {
    const client = clientOf()
    const { store } = open({ client })
    await until(() => isDone(store))
    await client.quit()
    await until(async () => (await connections()) === 0)
    expect((await store.read('k', json)).kind).toBe('away')
    await client.connect()
    await until(() => isDone(store))
  })

  test('that gets no further connection gives one warning', async () => {
    const client = await closing(clientOf())
    await admin.configSet('maxclients', '2')
    const notices: Notice[] = []
    const store = redisStore({ client })
    ends.push(() => store.close())
    store.watch((notice) => void notices.push(notice))
    await until(() => notices.length > 0)
    expect(notices).toEqual([{ kind: 'warning', message: expect.stringContaining('no further connection') }])
    await admin.configSet('maxclients', '100')
    await until(() => isDone(store))
  })

  test('whose first further connection is lost on its way gives none', async () => {
    let connection = 0
    const losing = createServer((socket) => {
      connection += 1
      socket.on('error', () => undefined)
      if (connection === 2) return socket.once('data', () => socket.destroy())
      const upstream = createConnection(server.port, '127.0.0.1').on('error', () => undefined)
      return void pipeline(socket, upstream, socket, () => undefined)
    }).listen(0, '127.0.0.1')
    await once(losing, 'listening')
    const client = await closing(new Redis((losing.address() as AddressInfo).port, '127.0.0.1'))
    ends.push(() => losing.close())
    ends.push(() => client.disconnect())
    await client.ping()
    const { store, kinds } = open({ client })
    await until(() => isDone(store))
    expect(connection).toBeGreaterThan(2)
    expect(kinds).not.toContain('warning')
  })

  test('has no part in a store that is closed: it opens nothing, and keeps no listener', async () => {
    const client = clientOf({ lazyConnect: true })
    const listeners = (): number => ['connecting', 'end'].reduce((sum, event) => sum + client.listenerCount(event), 0)
    const before = listeners()
    for (let round = 0; round < 12; round += 1) await redisStore({ client }).close()
    expect(listeners()).toBe(before)
    await client.connect()
    await client.ping()
    expect(await connections()).toBe(1)
  })

  test.each([
    ['a client', (): readonly string[] => [server.url]],
    ['a cluster of which no node is there', () => []],
  ])('lets its process end, although the store is not closed: %s', async (_, args) => {
    const member = bundled(resolve(__dirname, 'ioredis-member.ts'))
    const child = spawn(process.execPath, [member, ...args()], { stdio: ['ignore', 'inherit', 'ignore'] })
    ends.push(() => child.kill('SIGKILL'))
    expect(await once(child, 'exit')).toEqual([0, null])
  })
})

describe('a connection that breaks', () => {
  test('takes its commands with it: none is sent again once the server is back', async () => {
    const { store } = open({ client: clientOf(), watchdog: false })
    await until(() => isDone(store))
    await put(store, 'k', 'kept')
    await proxy.inject({ kind: 'black-hole' })
    const lost = store.invalidate('k', 'delete', 0)
    await proxy.inject({ kind: 'reset' })
    expect((await lost).kind).toBe('away')
    await proxy.heal()
    await until(() => isDone(store))
    expect((await found(store, 'k')).value).toBe('kept')
  })

  test('is replaced when its server vanishes silently, and that for wake-ups, too', async () => {
    const { store, kinds } = open({ client: clientOf(), watchdog: '200ms' })
    await until(() => kinds.includes('connected'))
    await proxy.inject({ kind: 'half-open' })
    await proxy.heal()
    expect((await store.read('k', json)).kind).toBe('away')
    await until(() => isDone(store))
    await until(() => kinds.join(' ') === 'connected disconnected connected')
  })

  test.each<[string, () => RedisStoreOptions]>([
    ['a client', () => ({ client: clientOf() })],
    ['a url', () => ({ url: server.url })],
  ])(
    'to a master that has become a replica is replaced once in a second, because its address may lead to another server now, and no read is lost: %s',
    async (_, options) => {
      const { store } = open(options())
      await until(() => isDone(store))
      const idsOf = async (): Promise<readonly number[]> => (await admin.clientList()).map(({ id }) => id)
      const before = await idsOf()
      await admin.replicaOf('127.0.0.1', 1)
      const begun = performance.now()
      const seen = new Set<number>()
      const kinds = new Set<string>()
      await until(async () => {
        expect(await store.acquire('k', request)).toMatchObject({ kind: 'away', why: 'error' })
        kinds.add((await store.read('k', json)).kind)
        const ids = await idsOf()
        for (const id of ids) if (!before.includes(id)) seen.add(id)
        return seen.size > 0 && ids.length === before.length
      })
      expect([...kinds]).toEqual(['missing'])
      expect(seen.size).toBeLessThanOrEqual(1 + (performance.now() - begun) / 1000)
    },
  )

  test('is opened again, by the store and by its subscription, when the server returns', async () => {
    const { store, kinds } = open({ client: clientOf() })
    await until(() => kinds.includes('connected'))
    await server.kill()
    await until(() => kinds.includes('disconnected'))
    expect((await store.read('k', json)).kind).toBe('away')
    server = await startRedis({ port: server.port })
    await until(() => isDone(store))
    await until(() => kinds.lastIndexOf('connected') > kinds.indexOf('disconnected'))
  })
})

test('a cluster that loses a master is served by the replica that is promoted, wake-ups included', async () => {
  const servers = await startRedisCluster()
  ends.push(() => servers.stop())
  const client = await closing(new Cluster(servers.rootNodes.map(({ url }) => addressOf(url))))
  ends.push(() => client.disconnect())
  const { store, kinds } = open({ client })
  const keys = Array.from({ length: 30 }, (_, index) => `key ${index}`)
  const areServed = async (): Promise<boolean> => {
    const reads = await Promise.all(keys.map((key) => store.read(key, json)))
    return reads.every(({ kind }) => kind === 'missing')
  }
  await until(areServed)
  await until(() => kinds.includes('connected'))
  await servers.killMaster()
  expect((await Promise.all(keys.map((key) => store.read(key, json)))).some(({ kind }) => kind === 'away')).toBe(true)
  await servers.healed()
  await until(areServed)
  await until(() => kinds.at(-1) === 'connected')
  await store.invalidate('k', 'delete', 0)
  await until(() => kinds.includes('deleted'))
}, 60_000)

test('the master that Sentinel names is followed, wake-ups included, and a replicated lease may still commit there', async () => {
  const servers = await startRedisSentinel()
  ends.push(() => servers.stop())
  const { name, sentinelRootNodes: sentinels } = servers
  const client = await closing(new Redis({ name, sentinels: [...sentinels] }))
  ends.push(() => client.disconnect())
  const { store, kinds } = open({ client })
  await until(() => kinds.includes('connected'))
  const replica = await connect(servers.replica.url)
  ends.push(() => replica.destroy())
  const replicated = await lead(store, 'replicated')
  await until(async () => (await replica.exists('cattlegrid:{replicated}:l')) === 1)
  await servers.killMaster()
  await until(async () => (await store.read('k', json)).kind === 'away')
  await servers.promoted()
  await until(() => kinds.lastIndexOf('connected') > kinds.indexOf('disconnected'))
  await until(() => isDone(store))
  expect((await store.commit(replicated, entryOf('kept'), json)).kind).toBe('stored')
  expect((await found(store, 'replicated')).value).toBe('kept')
}, 60_000)

test('a master that is demoted by a planned failover gets no further command, although it does not know of that yet', async () => {
  const servers = await startRedisSentinel()
  ends.push(() => servers.stop())
  const { name, sentinelRootNodes: sentinels } = servers
  const [demoted, promoted] = await Promise.all([servers.master, servers.replica].map(({ url }) => connect(url)))
  ends.push(
    () => demoted?.destroy(),
    () => promoted?.destroy(),
  )
  const client = await closing(new Redis({ name, sentinels: [...sentinels] }))
  ends.push(() => client.disconnect())
  const { store, kinds } = open({ client })
  await until(() => kinds.includes('connected'))
  await put(store, 'k', 'old')
  await until(async () => (await promoted?.exists('cattlegrid:{k}')) === 1)
  // It stays a master, as one does until Sentinel tells it, ten seconds later.
  await demoted?.aclSetUser('default', ['-slaveof', '-replicaof'])
  await askRedis(sentinels[0]?.port ?? 0, `SENTINEL FAILOVER ${name}`)
  await servers.promoted()
  await until(() => kinds.lastIndexOf('connected') > kinds.indexOf('disconnected') && kinds.includes('disconnected'))
  await until(() => isDone(store))
  expect(await demoted?.sendCommand(['ROLE'])).toContain('master')
  expect((await store.invalidate('k', 'delete', 0)).kind).toBe('done')
  expect(await promoted?.exists('cattlegrid:{k}')).toBe(0)
}, 60_000)
