import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { createCache } from '@cattlegrid/core'
import { type AnyRedisClient, type RedisClient, redisStore, type RedisStoreOptions } from '@cattlegrid/redis'
import { type RedisServer, startRedis } from '@cattlegrid/testkit'
import { Redis } from 'ioredis'
import * as redis6 from 'redis'
import * as oldestRedis from 'redis-oldest'
import * as redis5 from 'redis5'
import { type FaultProxy, startFaultProxy } from '../../../test/support/fault-proxy.ts'
import { startRedisCluster } from '../../../test/support/redis-cluster.ts'
import { until } from '../../../test/support/until.ts'

interface Options {
  readonly url: string
  readonly commandsQueueMaxLength?: number
  readonly pingInterval?: number
  readonly disableOfflineQueue?: boolean
  readonly socket?: {
    readonly socketTimeout?: number
    readonly reconnectStrategy?: false | number | ((retries: number) => number)
  }
}

interface NodeRedis {
  createClient(options: Options): RedisClient
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

async function clientOf({ createClient }: NodeRedis, options: Omit<Options, 'url'> = {}): Promise<RedisClient> {
  const client = createClient({ url: `redis://127.0.0.1:${proxy.port}`, ...options })
  client.on('error', () => undefined)
  await client.connect()
  ends.push(() => client.isOpen && client.destroy())
  return client
}

/** The warnings of a store until its wake-ups arrive, and it has answered what it asks behind that. */
async function warningsOf(options: RedisStoreOptions): Promise<readonly string[]> {
  const store = redisStore(options)
  ends.push(() => store.close())
  const warnings: string[] = []
  let isConnected = false
  store.watch((notice) => {
    isConnected ||= notice.kind === 'connected'
    if (notice.kind === 'warning') warnings.push(notice.message)
  })
  await until(() => isConnected)
  await store.ping()
  return warnings
}

describe.each(versions)('with %s', (_, library) => {
  const strategy = (retries: number): number => Math.min(50 * 2 ** retries, 1000)

  test.each([
    ['its defaults', {}],
    [
      'settings that bound everything',
      {
        disableOfflineQueue: true,
        commandsQueueMaxLength: 10_000,
        pingInterval: 1000,
        socket: { socketTimeout: 5000, reconnectStrategy: strategy },
      },
    ],
    ['a constant pause before it reconnects', { socket: { reconnectStrategy: 500 } }],
  ])('a client with %s gives no warning', async (_title, options) => {
    expect(await warningsOf({ client: await clientOf(library, options) })).toEqual([])
  })

  test('one warning names every setting that can end the client, or refuses a burst', async () => {
    const client = await clientOf(library, { commandsQueueMaxLength: 100, socket: { socketTimeout: 60_000 } })
    const warnings = await warningsOf({ client })
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toMatch(/socketTimeout.* without .*60000 ms.*commandsQueueMaxLength: 100/)
    const other = await clientOf(library, { socket: { reconnectStrategy: false } })
    expect(await warningsOf({ client: other })).toEqual([expect.stringContaining('reconnectStrategy: false')])
  })

  test('what the warnings say is true: the client ends when it is idle, and with the first lost connection', async () => {
    const idle = await clientOf(library, { socket: { socketTimeout: 100 } })
    const lost = await clientOf(library, { socket: { reconnectStrategy: false } })
    const kept = await clientOf(library, { socket: { socketTimeout: 100, reconnectStrategy: strategy } })
    await until(() => !idle.isOpen)
    await proxy.inject({ kind: 'reset' })
    await proxy.heal()
    await until(() => !lost.isOpen)
    await until(() => kept.isReady)
    expect([idle.isOpen, lost.isOpen]).toEqual([false, false])
  })
})

/** How many of as many cold keys at once are stored. */
async function storedOf(client: AnyRedisClient, keys: number): Promise<number> {
  const namespace = `burst-${keys}-${Math.random()}`
  const store = redisStore({ client, namespace })
  // With a limit: the one that follows the source would spread the burst.
  const cache = createCache({ store, ttl: '1h', storeTimeout: '20s', maxLoads: keys })
  ends.push(() => cache.close())
  await cache.ready()
  const calls = Array.from({ length: keys }, (_, index) => cache.lookup(`k${index}`, () => 'value'))
  return (await Promise.all(calls)).filter(({ outcome }) => outcome?.kind === 'committed').length
}

test('what the warning says is true: a short queue refuses most of a burst', async () => {
  const client = await clientOf(redis6, { commandsQueueMaxLength: 100 })
  expect(await storedOf(client, 600)).toBeLessThan(300)
  const wide = await clientOf(redis6, { commandsQueueMaxLength: 2048 })
  expect(await storedOf(wide, 600)).toBe(600)
})

test('a cluster’s nodes are asked for their settings', async () => {
  const servers = await startRedisCluster()
  ends.push(() => servers.stop())
  const client = redis6.createCluster({
    rootNodes: [...servers.rootNodes],
    defaults: { socket: { reconnectStrategy: false } },
  })
  client.on('error', () => undefined)
  await client.connect()
  ends.push(() => client.destroy())
  expect(await warningsOf({ client })).toEqual([expect.stringContaining('reconnectStrategy: false')])
})

test('the settings of an ioredis client do not matter: the store has connections of its own', async () => {
  const client = new Redis({ port: proxy.port, socketTimeout: 5000 })
  ends.push(() => client.disconnect())
  expect(await warningsOf({ client })).toEqual([])
})

describe('of the server’s eviction policy', () => {
  const byPolicy = async (...args: readonly string[]): Promise<readonly string[]> => {
    const full = await startRedis({ args: ['--maxmemory-policy', ...args] })
    ends.push(() => full.stop())
    return await warningsOf({ url: full.url })
  }

  test('volatile-ttl with a limit of memory gives a warning', async () => {
    expect(await byPolicy('volatile-ttl', '--maxmemory', '100mb')).toEqual([expect.stringContaining('volatile-ttl')])
  })

  test.each([
    ['volatile-ttl without a limit', ['volatile-ttl']],
    ['allkeys-lru', ['allkeys-lru', '--maxmemory', '100mb']],
  ])('%s gives none', async (_, args) => {
    expect(await byPolicy(...args)).toEqual([])
  })
})
