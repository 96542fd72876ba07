import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Cache, createCache } from '@cattlegrid/core'
import type * as redisPackage from '@cattlegrid/redis'
import type { RedisClient, RedisCluster, RedisSentinel, RedisStoreOptions } from '@cattlegrid/redis'
import * as redis6 from 'redis'
import * as oldestRedis from 'redis-oldest'
import * as redis5 from 'redis5'
import { type RedisClusterServers, startRedisCluster } from '../../../test/support/redis-cluster.ts'
import { type RedisSentinelServers, startRedisSentinel } from '../../../test/support/redis-sentinel.ts'
import { redisUrl } from './redis.ts'
import { until } from './until.ts'

/** A version of node-redis. That each is assigned to this says that its clients fit the declared types of the store. */
interface Library {
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

type Way = (library: Library) => Promise<RedisStoreOptions>

const versions: readonly (readonly [string, Library])[] = [
  ['redis 5.1.0', oldestRedis],
  ['the newest redis 5', redis5],
  ['redis 6', redis6],
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

const ways: readonly (readonly [string, Way])[] = [
  ['createClient()', async ({ createClient }) => ({ client: await connected(createClient({ url: redisUrl() })) })],
  ['a client of the store’s own', () => Promise.resolve({ url: redisUrl() })],
  [
    'createCluster()',
    async ({ createCluster }) => ({ client: await connected(createCluster({ rootNodes: [...cluster.rootNodes] })) }),
  ],
  [
    'createSentinel()',
    async ({ createSentinel }) => {
      const { name, sentinelRootNodes } = sentinel
      const nodeClientOptions = { username: 'app', password: 'secret' }
      const rest = { sentinelRootNodes: [...sentinelRootNodes], nodeClientOptions }
      return { client: await connected(createSentinel({ name, reserveClient: true, ...rest })) }
    },
  ],
]

async function connected<C extends Connecting & Pick<RedisClient, 'on'>>(client: C): Promise<C> {
  client.on('error', () => undefined)
  await client.connect()
  ends.push(() => client.destroy())
  return client
}

/** The package as it is where this version of node-redis is installed: what the store makes itself is of that version, too. */
async function packageOn(library: Library): Promise<typeof redisPackage> {
  let loaded: typeof redisPackage | undefined
  await jest.isolateModulesAsync(async () => {
    jest.doMock('redis', () => library)
    loaded = await import('@cattlegrid/redis')
  })
  if (loaded === undefined) throw new Error('The package was not loaded')
  return loaded
}

/** Caches of as many processes, each on its own connection, which receive one another's notices. */
async function openTwo(library: Library, way: Way): Promise<readonly [Cache, Cache]> {
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
      await until(async () => (await other.inspect('k'))?.lease !== null)
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

test('the oldest version that the package allows is among them', () => {
  const manifest = (
    path: string,
  ): { readonly version: string; readonly peerDependencies: { readonly redis: string } } =>
    JSON.parse(readFileSync(path, 'utf8')) as ReturnType<typeof manifest>
  const { version } = manifest(require.resolve('redis-oldest/package.json'))
  expect(manifest(require.resolve('../package.json')).peerDependencies.redis).toBe(`^${version} || ^6.0.0`)
})
