import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Cache, createCache } from '@cattlegrid/core'
import type * as redisPackage from '@cattlegrid/redis'
import type {
  IoRedis,
  IoRedisCluster,
  RedisClient,
  RedisCluster,
  RedisSentinel,
  RedisStoreOptions,
} from '@cattlegrid/redis'
import * as ioRedis6 from 'ioredis6'
import * as oldestIoRedis from 'ioredis-oldest'
import * as ioRedis5 from 'ioredis'
import * as iovalkey from 'iovalkey'
import * as redis6 from 'redis'
import * as oldestRedis from 'redis-oldest'
import * as redis5 from 'redis5'
import { type RedisClusterServers, startRedisCluster } from '../../../../test/support/redis-cluster.ts'
import { type RedisSentinelServers, startRedisSentinel } from '../../../../test/support/redis-sentinel.ts'
import { redisUrl } from '../../../../test/support/redis-under-test.ts'
import { until } from '../../../../test/support/until.ts'

/** A version of node-redis. That each is assigned to this says that its clients fit the declared types of the store. */
interface NodeRedis {
  createClient(options: { readonly url: string }): RedisClient
  createCluster(options: { readonly rootNodes: { readonly url: string }[] }): RedisCluster & Connecting
  createSentinel(options: {
    readonly name: string
    readonly sentinelRootNodes: { host: string; port: number }[]
    readonly nodeClientOptions: { readonly username: string; readonly password: string }
    readonly reserveClient: true
  }): RedisSentinel & Connecting
}

interface Connecting {
  connect(): Promise<unknown>
  destroy(): unknown
}

/** A version of ioredis, or of its fork for Valkey. */
interface IoRedisLibrary {
  readonly Redis: new (options: {
    readonly host?: string
    readonly port?: number
    readonly sentinels?: { host: string; port: number }[]
    readonly name?: string
    readonly username?: string
    readonly password?: string
  }) => IoRedis
  readonly Cluster: new (nodes: { host: string; port: number }[]) => IoRedisCluster
}

/** How a version reaches each kind of server. */
interface Library {
  client(): Promise<RedisStoreOptions>
  ownClient(): Promise<RedisStoreOptions>
  cluster(): Promise<RedisStoreOptions>
  sentinel(): Promise<RedisStoreOptions>
  /** What the modules of the store get instead of these packages. */
  readonly modules: Readonly<Record<string, () => unknown>>
}

const credentials = { username: 'app', password: 'secret' }

function addressOf(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url)
  return { host: hostname, port: Number(port) }
}

function nodeRedis(library: NodeRedis): Library {
  return {
    modules: { redis: () => library },
    client: async () => ({ client: await connected(library.createClient({ url: redisUrl() })) }),
    ownClient: async () => ({ url: redisUrl() }),
    cluster: async () => ({ client: await connected(library.createCluster({ rootNodes: [...cluster.rootNodes] })) }),
    async sentinel() {
      const { name, sentinelRootNodes } = sentinel
      const rest = { sentinelRootNodes: [...sentinelRootNodes], nodeClientOptions: credentials }
      return { client: await connected(library.createSentinel({ name, reserveClient: true, ...rest })) }
    },
  }
}

function ioRedis(library: IoRedisLibrary): Library {
  const { Redis, Cluster } = library
  return {
    modules: { redis: notInstalled, ioredis: () => library },
    client: async () => ({ client: ended(new Redis(addressOf(redisUrl()))) }),
    ownClient: async () => ({ url: redisUrl() }),
    cluster: async () => ({ client: ended(new Cluster(cluster.rootNodes.map(({ url }) => addressOf(url)))) }),
    async sentinel() {
      const { name, sentinelRootNodes } = sentinel
      return { client: ended(new Redis({ sentinels: [...sentinelRootNodes], name, ...credentials })) }
    },
  }
}

function notInstalled(): never {
  throw Object.assign(new Error('Cannot find the package'), { code: 'MODULE_NOT_FOUND' })
}

// For TypeScript, the default of this CommonJS module is the whole module.
const OldestRedis: unknown = oldestIoRedis.default

const versions: readonly (readonly [string, Library])[] = [
  ['redis 5.1.0', nodeRedis(oldestRedis)],
  ['the newest redis 5', nodeRedis(redis5)],
  ['redis 6', nodeRedis(redis6)],
  ['ioredis 5.0.0', ioRedis({ Redis: OldestRedis as IoRedisLibrary['Redis'], Cluster: oldestIoRedis.Cluster })],
  ['ioredis 5.8', ioRedis(ioRedis5)],
  ['ioredis 6', ioRedis(ioRedis6)],
  ['iovalkey', ioRedis(iovalkey)],
]

let cluster: RedisClusterServers
let sentinel: RedisSentinelServers
const ends: (() => unknown)[] = []

beforeAll(async () => {
  ;[cluster, sentinel] = await Promise.all([startRedisCluster(), startRedisSentinel()])
  for (const { url } of [sentinel.master, sentinel.replica]) {
    const admin = redis6.createClient({ url })
    await admin.connect()
    await admin.aclSetUser('app', ['on', '>secret', '~*', '&*', '+@all'])
    // A connection without the client's credentials receives nothing.
    await admin.aclSetUser('default', ['resetchannels', '&__sentinel__:hello'])
    admin.destroy()
  }
})
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})
afterAll(() => Promise.all([cluster.stop(), sentinel.stop()]))

const ways: readonly (readonly [string, (library: Library) => Promise<RedisStoreOptions>])[] = [
  ['a client', (library) => library.client()],
  ['a client of the store’s own', (library) => library.ownClient()],
  ['a cluster', (library) => library.cluster()],
  ['the master that Sentinel names', (library) => library.sentinel()],
]

async function connected<C extends Connecting & Pick<RedisClient, 'on'>>(client: C): Promise<C> {
  client.on('error', () => undefined)
  await client.connect()
  ends.push(() => client.destroy())
  return client
}

/** A client that connects by itself. */
function ended<C extends Pick<IoRedis, 'on' | 'disconnect'>>(client: C): C {
  client.on('error', () => undefined)
  ends.push(() => client.disconnect())
  return client
}

/** The package as it is where only this version is installed: what the store makes itself is of that version, too. */
async function packageOn({ modules }: Library): Promise<typeof redisPackage> {
  let loaded: typeof redisPackage | undefined
  await jest.isolateModulesAsync(async () => {
    for (const [name, module] of Object.entries(modules)) jest.doMock(name, module)
    loaded = await import('@cattlegrid/redis')
  })
  if (loaded === undefined) throw new Error('The package was not loaded')
  return loaded
}

/** Caches of as many processes, each on its own connection, which receive one another's notices. */
async function openTwo(library: Library, way: (typeof ways)[number][1]): Promise<readonly [Cache, Cache]> {
  const { redisStore } = await packageOn(library)
  const namespace = `test:${randomUUID()}`
  const open = async (): Promise<Cache> => {
    const store = redisStore({ ...(await way(library)), namespace })
    let isConnected = false
    store.watch(({ kind }) => void (isConnected ||= kind === 'connected'))
    const cache = createCache({ store, ttl: '1m', staleWhileRevalidate: '1m', storeTimeout: '20s' })
    ends.push(() => cache.close())
    await until(() => isConnected)
    return cache
  }
  return [await open(), await open()]
}

describe.each(versions)('with %s', (_, library) => {
  describe.each(ways)('a cache on %s', (_title, way) => {
    test('loads a value once, and it is a hit in every process', async () => {
      const [one, other] = await openTwo(library, way)
      const value = { name: 'Zoë', price: 3 }
      expect(await one.lookup('k', () => value)).toMatchObject({
        value,
        role: 'leader',
        outcome: { kind: 'committed' },
      })
      for (const cache of [one, other, one, other])
        expect(await cache.lookup('k', () => 'anew')).toMatchObject({ value, status: 'fresh', from: 'store' })
    })

    test('serves what was expired as stale, and refreshes it for every process', async () => {
      const [one, other] = await openTwo(library, way)
      await one.lookup('k', () => 'old')
      await one.expire('k')
      const stale = await other.lookup('k', () => 'new')
      expect(stale).toMatchObject({ value: 'old', status: 'stale' })
      expect(await stale.refresh).toMatchObject({ kind: 'committed' })
      expect(await one.lookup('k', () => 'anew')).toMatchObject({ value: 'new', status: 'fresh' })
    })

    test('loads again after another process has invalidated the entry, by key or by tag', async () => {
      const [one, other] = await openTwo(library, way)
      const load = async (value: string) => (await one.lookup('k', () => value, { tags: ['t'] })).value
      expect(await load('first')).toBe('first')
      await other.delete('k')
      expect(await load('second')).toBe('second')
      await other.invalidateTags(['t'])
      expect(await load('third')).toBe('third')
    })

    test('wakes a caller that waits in another process', async () => {
      const [one, other] = await openTwo(library, way)
      const wakes: string[] = []
      other.on('wake', ({ by }) => void wakes.push(by))
      let finish: (value: string) => void = () => undefined
      const led = one.lookup('k', () => new Promise<string>((resolve) => void (finish = resolve)))
      // Undefined while the store does not answer in time.
      await until(async () => ((await other.inspect('k'))?.lease ?? null) !== null)
      const waits = new Promise<void>((resolve) => void other.on('follow', () => resolve()))
      const followed = other.lookup('k', () => 'loaded twice')
      await waits
      finish('made once')
      expect(await led).toMatchObject({ value: 'made once', role: 'leader' })
      expect(await followed).toMatchObject({ value: 'made once', role: 'follower' })
      expect(wakes).toEqual(['notice'])
    })
  })
})

test.each([
  ['redis', 'redis-oldest', '^6.0.0'],
  ['ioredis', 'ioredis-oldest', '^6.0.0'],
])('the oldest version of %s that the package allows is among them', (name, oldest, newest) => {
  const manifest = (
    path: string,
  ): { readonly version: string; readonly peerDependencies: Readonly<Record<string, string>> } =>
    JSON.parse(readFileSync(path, 'utf8')) as ReturnType<typeof manifest>
  const { version } = manifest(require.resolve(`${oldest}/package.json`))
  expect(manifest(require.resolve('../../package.json')).peerDependencies[name]).toBe(`^${version} || ${newest}`)
})
