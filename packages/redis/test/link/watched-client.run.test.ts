import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { json, type Store } from '@cattlegrid/core'
import { type RedisClient, redisStore, type RedisStoreOptions } from '@cattlegrid/redis'
import { type RedisServer, startRedis } from '@cattlegrid/testkit'
import * as redis6 from 'redis'
import * as oldestRedis from 'redis-oldest'
import * as redis5 from 'redis5'
import { type FaultProxy, startFaultProxy } from '../../../../test/support/fault-proxy.ts'
import { startRedisCluster } from '../../../../test/support/redis-cluster.ts'
import { put } from '../../../../test/support/entries.ts'
import { until } from '../../../../test/support/until.ts'

interface Settings {
  readonly pingInterval?: number
  readonly socket?: { readonly socketTimeout: number; readonly reconnectStrategy: (retries: number) => number }
}

interface NodeRedis {
  createClient(options: Settings & { readonly url: string }): RedisClient
}

const versions: readonly (readonly [string, NodeRedis])[] = [
  ['redis 5.1', oldestRedis],
  ['the newest redis 5', redis5],
  ['redis 6', redis6],
]

let server: RedisServer
let proxy: FaultProxy
const ends: (() => unknown)[] = []

beforeEach(async () => {
  server = await startRedis({ own: true })
  proxy = await startFaultProxy({ target: { port: server.port } })
})
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
  await proxy.close()
  await server.stop()
})

async function clientOf({ createClient }: NodeRedis, settings: Settings = {}): Promise<RedisClient> {
  const client = createClient({ ...settings, url: `redis://127.0.0.1:${proxy.port}` })
  client.on('error', () => undefined)
  await client.connect()
  ends.push(() => client.isOpen && client.destroy())
  return client
}

/** A store without a connection for wake-ups, so that the proxy counts the others. */
function open(options: RedisStoreOptions): Store {
  const store = redisStore({ watchdog: '200ms', ...options })
  ends.push(() => store.close())
  return store
}

const answers = async (store: Store, key = 'k'): Promise<boolean> => (await store.read(key, json)).kind !== 'away'
const answersSoon = (store: Store): Promise<unknown> =>
  until(() => Promise.race([answers(store), pause(100).then(() => false)]))
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

async function vanish(): Promise<void> {
  await proxy.inject({ kind: 'half-open' })
  await proxy.heal()
}

describe.each(versions)('a client of %s whose server vanished silently', (_, library) => {
  test('is replaced by a connection of the store’s own, until it is connected again', async () => {
    const client = await clientOf(library)
    const store = open({ client })
    expect(await answers(store)).toBe(true)
    await vanish()
    await answersSoon(store)
    await put(store, 'k', 'value')
    expect([client.isReady, proxy.traffic.connections]).toEqual([true, 2])
    await proxy.inject({ kind: 'reset' })
    await proxy.heal()
    await until(() => client.isReady)
    await until(() => answers(store))
    await until(() => proxy.traffic.open === 1)
  })
})

describe('a client whose server vanished silently', () => {
  test('does not notice by its own settings as long as something is sent', async () => {
    const socket = { socketTimeout: 500, reconnectStrategy: () => 50 }
    const clients = await Promise.all(versions.map(([, library]) => clientOf(library, { pingInterval: 100, socket })))
    await vanish()
    for (let round = 0; round < 20; round += 1) {
      for (const client of clients) client.sendCommand(['GET', 'k']).catch(() => undefined)
      await pause(100)
    }
    expect(clients.map(({ isReady }) => isReady)).toEqual([true, true, true])
    // Nothing is sent any more.
    await until(() => proxy.traffic.connections === 2 * clients.length)
  })

  test('is left as it is when the watchdog is off', async () => {
    const store = open({ client: await clientOf(redis6), watchdog: false })
    await vanish()
    expect(await Promise.race([store.read('k', json), pause(1500).then(() => 'nothing')])).toBe('nothing')
    expect(proxy.traffic.connections).toBe(1)
  })

  test('is not replaced any more once it is destroyed: the store contacts no server that its user has left', async () => {
    const client = await clientOf(redis6)
    const store = open({ client })
    await vanish()
    await answersSoon(store)
    client.destroy()
    await until(() => proxy.traffic.open === 0)
    expect(await answers(store)).toBe(false)
  })

  test('keeps nothing open once the store is closed', async () => {
    const client = await clientOf(redis6)
    const store = open({ client })
    await vanish()
    await answersSoon(store)
    await store.close()
    // The peer of the user’s own connection is gone.
    await until(() => proxy.traffic.open === 1)
    expect(client.isOpen).toBe(true)
  })
})

test('a client whose server was frozen goes on, and the connection in its place ends', async () => {
  const client = await clientOf(redis6)
  const store = open({ client })
  server.pause()
  const late = store.read('k', json)
  await until(() => proxy.traffic.connections > 1)
  server.resume()
  expect((await late).kind).toBe('missing')
  await until(() => proxy.traffic.open === 1)
  expect(await answers(store)).toBe(true)
})

test('a client is kept while its server answers, however slowly', async () => {
  const store = open({ client: await clientOf(redis6), watchdog: '1s' })
  await proxy.inject({ kind: 'latency', ms: 300 })
  for (let round = 0; round < 4; round += 1) expect(await answers(store)).toBe(true)
  expect(proxy.traffic.connections).toBe(1)
})

test('a node of a cluster that vanished silently is reached by a connection of the store’s own, the others by the cluster', async () => {
  const servers = await startRedisCluster({ replicas: 0 })
  ends.push(() => servers.stop())
  const target = servers.masters[0]?.port ?? 0
  const node = await startFaultProxy({ target: { port: target } })
  ends.push(() => node.close())
  const client = redis6.createCluster({
    rootNodes: [...servers.rootNodes],
    nodeAddressMap: { [`127.0.0.1:${target}`]: { host: '127.0.0.1', port: node.port } },
  })
  client.on('error', () => undefined)
  await client.connect()
  ends.push(() => client.destroy())
  const store = open({ client })
  const keys = Array.from({ length: 30 }, (_, index) => `key ${index}`)
  const served = async (): Promise<number> => {
    const reads = keys.map((key) => Promise.race([answers(store, key), pause(500).then(() => false)]))
    return (await Promise.all(reads)).filter(Boolean).length
  }
  await until(async () => (await served()) === keys.length)
  await node.inject({ kind: 'half-open' })
  await node.heal()
  const { connections } = node.traffic
  expect(await served()).toBeLessThan(keys.length)
  await until(async () => (await served()) === keys.length)
  expect(node.traffic.connections).toBe(connections + 1)
  await store.close()
  await until(() => node.traffic.open === connections)
})
