import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { createCache, json, type Store } from '@cattlegrid/core'
import type { Notice } from '@cattlegrid/core/extend'
import { redisStore } from '@cattlegrid/redis'
import type { RedisServer } from '@cattlegrid/testkit'
import { createCluster } from 'redis'
import { type RedisClusterServers, startRedisCluster } from '../../../../test/support/redis-cluster.ts'
import { keySlot } from '../../src/link/key-slot.ts'
import { entryOf, found, isFresh, lead, put, request } from '../../../../test/support/entries.ts'
import { type Client, connect } from '../../../../test/support/redis-under-test.ts'
import { until } from '../../../../test/support/until.ts'

let servers: RedisClusterServers
let clients: readonly Client[]
let namespaces = 0
const ends: (() => unknown)[] = []

beforeAll(async () => {
  servers = await startRedisCluster()
  clients = await Promise.all([...servers.masters, ...servers.replicas].map(({ url }) => connect(url)))
})
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})
afterAll(async () => {
  for (const client of clients) client.destroy()
  await servers.stop()
})

function clusterOf(options: { readonly useReplicas?: boolean; readonly minimizeConnections?: boolean } = {}) {
  const cluster = createCluster({ rootNodes: [...servers.rootNodes], ...options })
  cluster.on('error', () => undefined)
  ends.push(() => (cluster.isOpen ? cluster.destroy() : undefined))
  return cluster
}

interface Opened {
  readonly store: Store
  readonly kinds: readonly Notice['kind'][]
  readonly namespace: string
}

async function open(options: Parameters<typeof clusterOf>[0] = {}): Promise<Opened> {
  const cluster = clusterOf(options)
  await cluster.connect()
  const namespace = `cluster-${(namespaces += 1)}`
  const store = redisStore({ client: cluster, namespace })
  ends.push(() => store.close())
  const kinds: Notice['kind'][] = []
  store.watch(({ kind }) => void kinds.push(kind))
  return { store, kinds, namespace }
}

const keys = Array.from({ length: 60 }, (_, index) => `key ${index} {é}`)

function clientOf({ port }: RedisServer): Client {
  const client = clients.find(({ options }) => options.url?.endsWith(`:${port}`) === true)
  if (client === undefined) throw new Error(`No client for ${port}`)
  return client
}

describe('a put with tags, which are on another node than the entry', () => {
  const tagged = entryOf('put', { tags: ['t'] })
  const superseding: readonly (readonly [string, (store: Store, key: string) => Promise<unknown>, unknown])[] = [
    ['deleted', (store, key) => store.invalidate(key, 'delete', 0), undefined],
    ['put', (store, key) => store.put(key, entryOf('later'), json), 'later'],
    ['cleared', (store) => store.clear(), undefined],
  ]

  test.each(superseding)(
    'is not written any more once the key is %s by the same process',
    async (_, step, expected) => {
      const { store } = await open()
      await put(store, 'warm', 1, { tags: ['t'] })
      for (const key of keys.slice(0, 20)) {
        const putting = store.put(key, tagged, json)
        await step(store, key)
        expect((await putting).kind).toBe('stored')
        const read = await store.read(key, json)
        expect(read.kind === 'found' ? read.entry.value : undefined).toBe(expected)
      }
    },
  )

  test('is not written when its caller has stopped waiting', async () => {
    const { store } = await open()
    expect(await store.put('k', tagged, json, () => true)).toMatchObject({ kind: 'away' })
    expect((await store.read('k', json)).kind).toBe('missing')
    expect((await store.put('k', tagged, json, () => false)).kind).toBe('stored')
    expect((await found(store, 'k')).value).toBe('put')
  })
})

describe('a store on a cluster', () => {
  test('knows the slot of every name', async () => {
    const names = ['a:{b}', 'a:{%00}:l', 'shop:{%tags}:n:a}b', 'ns:{é€😀}', `ns:{${'x'.repeat(5000)}}`]
    const [client] = clients
    for (const name of names) expect(keySlot(name)).toBe(await client?.clusterKeySlot(name))
  })

  test('clears every master, and returns the number of entries on all of them', async () => {
    const { store, namespace } = await open()
    await Promise.all(keys.map((key) => put(store, key, key)))
    const leases = await Promise.all(keys.map((key) => lead(store, `led ${key}`)))
    expect(await store.clear()).toEqual({ kind: 'cleared', entries: keys.length })
    const left = await Promise.all(servers.masters.map((master) => clientOf(master).keys(`${namespace}:*`)))
    // The tag sequence stays: it must never be set back.
    expect(left.flat()).toEqual([`${namespace}:{%tags}`])
    const commits = await Promise.all(leases.map((lease) => store.commit(lease, entryOf('late'), json)))
    expect(commits.filter(({ kind }) => kind !== 'refused')).toEqual([])
  })

  test('sends its scripts again to every node that lost them', async () => {
    const { store } = await open()
    for (const master of servers.masters) await clientOf(master).scriptFlush()
    await Promise.all(keys.map(async (key) => store.commit(await lead(store, key), entryOf(key), json)))
    expect(await Promise.all(keys.map(async (key) => (await found(store, key)).value))).toEqual(keys)
  })

  test('reads no replica, even through a client that does', async () => {
    const { store } = await open({ useReplicas: true })
    for (const replica of servers.replicas) await clientOf(replica).configResetStat()
    await Promise.all(keys.map((key) => put(store, key, key)))
    for (let round = 0; round < 5; round += 1) await Promise.all(keys.map((key) => found(store, key)))
    await store.inspect('k')
    for (const replica of servers.replicas)
      expect(await clientOf(replica).info('commandstats')).not.toMatch(/cmdstat_(?:get|pttl|mget|evalsha):/)
  })

  test('serves many keys at once from a cache', async () => {
    const { store } = await open()
    const cache = createCache({ store, ttl: '1h', storeTimeout: '20s' })
    const load = (missing: readonly string[]): Map<string, string> => new Map(missing.map((key) => [key, `of ${key}`]))
    const expected = new Map(keys.map((key) => [key, `of ${key}`]))
    expect(await cache.getOrSetMany(keys, load)).toEqual(expected)
    expect(await cache.getMany(keys)).toEqual(expected)
  })

  test('is away until its client is connected, and says so', async () => {
    const cluster = clusterOf({ minimizeConnections: true })
    const store = redisStore({ client: cluster, namespace: 'late' })
    ends.push(() => store.close())
    const notices: Notice[] = []
    store.watch((notice) => void notices.push(notice))
    expect((await store.read('k', json)).kind).toBe('away')
    await until(() => notices.length > 0)
    expect(notices).toEqual([{ kind: 'warning', message: expect.stringContaining('not open') }])
    await cluster.connect()
    // Such a client connects to a node when it is first needed.
    await until(async () => (await store.read('k', json)).kind === 'missing')
    await until(() => notices.some(({ kind }) => kind === 'connected'))
  })

  test('subscribes again, on any node, when its connection for wake-ups is cut', async () => {
    const { store, kinds } = await open()
    await until(() => kinds.includes('connected'))
    for (const master of servers.masters) await clientOf(master).sendCommand(['CLIENT', 'KILL', 'TYPE', 'pubsub'])
    await until(() => kinds.join(' ') === 'connected disconnected connected')
    await store.invalidate('k', 'delete', 0)
    await until(() => kinds.includes('deleted'))
    expect(kinds).toEqual(['connected', 'disconnected', 'connected', 'deleted'])
  })
})

describe('a slot that moves', () => {
  /** The slot of the key on its way from one master to another, whose client knows nothing of it. */
  async function beginMove(
    name: string,
  ): Promise<{ readonly migrate: (key: string) => Promise<unknown>; readonly end: () => Promise<unknown> }> {
    const slot = keySlot(name)
    const place = Math.floor((slot * servers.masters.length) / 16_384)
    const [source, target] = [servers.masters[place], servers.masters[(place + 1) % 3]]
    if (source === undefined || target === undefined) throw new Error('No such master')
    const [from, to] = [clientOf(source), clientOf(target)]
    const [sourceId, targetId] = [await from.clusterMyId(), await to.clusterMyId()]
    await to.sendCommand(['CLUSTER', 'SETSLOT', String(slot), 'IMPORTING', sourceId])
    await from.sendCommand(['CLUSTER', 'SETSLOT', String(slot), 'MIGRATING', targetId])
    return {
      migrate: (key) => from.sendCommand(['MIGRATE', '127.0.0.1', String(target.port), key, '0', '5000']),
      end: async () => {
        for (const client of [to, from])
          await client.sendCommand(['CLUSTER', 'SETSLOT', String(slot), 'NODE', targetId])
      },
    }
  }

  test('is followed, during the move and after it', async () => {
    const { store, namespace } = await open()
    const value = 'v'.repeat(10_000)
    await put(store, 'moving', value)
    const name = `${namespace}:{moving}`
    const { migrate, end } = await beginMove(name)
    expect((await found(store, 'moving')).value).toBe(value)
    await migrate(name)
    expect((await found(store, 'moving')).value).toBe(value)
    expect(await isFresh(store, 'moving')).toBe(true)
    await end()
    expect((await found(store, 'moving')).value).toBe(value)
    const { version } = await found(store, 'moving')
    const lease = await lead(store, 'moving', { seen: version })
    expect((await store.commit(lease, entryOf('moved'.repeat(1000)), json)).kind).toBe('stored')
    expect((await store.invalidate('moving', 'delete', 0)).kind).toBe('done')
    expect(await store.read('moving', json)).toMatchObject({ kind: 'missing' })
  })

  test('gets a long record at its new node, although the two commands of the commit are redirected one by one', async () => {
    const { store, namespace } = await open()
    const lease = await lead(store, 'long')
    const { migrate, end } = await beginMove(`${namespace}:{long}`)
    await migrate(`${namespace}:{long}:l`)
    await end()
    const value = 'v'.repeat(10_000)
    expect((await store.commit(lease, entryOf(value), json)).kind).toBe('stored')
    expect((await found(store, 'long')).value).toBe(value)
  })

  test('is away while one of two names has moved: no step may decide on half of the keys', async () => {
    const { store, namespace } = await open()
    await put(store, 'half', 1)
    const seen = (await found(store, 'half')).version
    await lead(store, 'half', { seen })
    const { migrate, end } = await beginMove(`${namespace}:{half}`)
    await migrate(`${namespace}:{half}:l`)
    const answer = await store.acquire('half', { ...request, seen })
    expect(answer).toMatchObject({ kind: 'away', cause: { message: expect.stringContaining('TRYAGAIN') } })
    await migrate(`${namespace}:{half}`)
    await end()
    await until(async () => (await store.acquire('half', { ...request, seen })).kind === 'held')
  })
})

test('a subscription moves to another node when its own is no longer a master', async () => {
  const { store, kinds, namespace } = await open()
  await until(() => kinds.includes('connected'))
  const subscribed = await Promise.all(
    servers.masters.map((master) => clientOf(master).pubSubNumSub([`${namespace}:wake`])),
  )
  const replica = servers.replicas[subscribed.findIndex((counts) => Object.values(counts).includes(1))]
  if (replica === undefined) throw new Error('Nobody has subscribed')
  await clientOf(replica).sendCommand(['CLUSTER', 'FAILOVER'])
  await until(async () => (await clientOf(replica).info('replication')).includes('role:master'))
  // A redirection shows the client the new topology.
  await until(
    async () => {
      await Promise.all(keys.map((key) => store.read(key, json)))
      return kinds.join(' ') === 'connected disconnected connected'
    },
    () => kinds.join(' '),
  )
  await store.invalidate('k', 'delete', 0)
  await until(() => kinds.includes('deleted'))
  expect(kinds).toEqual(['connected', 'disconnected', 'connected', 'deleted'])
})
