import { afterEach, describe, expect, test } from '@jest/globals'
import { type Cache, createCache } from '@cattlegrid/core'
import { redisStore, type RedisStoreOptions } from '@cattlegrid/redis'
import { type RedisServer, startRedis } from '@cattlegrid/testkit'
import { createCluster, createSentinel } from 'redis'
import { startRedisCluster } from '../../../../test/support/redis-cluster.ts'
import { startRedisSentinel } from '../../../../test/support/redis-sentinel.ts'
import { keySlot } from '../../src/link/key-slot.ts'
import { type Client, connect, type View } from '../../../../test/support/redis-under-test.ts'
import { until } from '../../../../test/support/until.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

// A lease of an hour: whatever a test waits for, it does not wait for the end of the lease.
const limits = {
  ttl: '1h',
  lease: { duration: '1h', maxHold: '2h' },
  failureCooldown: { min: '30m', max: '1h' },
  waitTimeout: '30s',
  // Else this process would serve the value that the store has not got.
  outage: false,
} as const

function cacheOn(options: RedisStoreOptions, storeTimeout: number = 10_000): Cache {
  const cache = createCache({ ...limits, storeTimeout, store: redisStore(options) })
  ends.push(() => cache.close({ drain: 0 }))
  return cache
}

async function connected(url: string): Promise<Client> {
  const client = await connect(url)
  ends.push(() => client.destroy())
  return client
}

interface OneServer {
  readonly server: RedisServer
  readonly admin: Client
  readonly leader: Cache
  readonly other: Cache
}

async function oneServer(storeTimeout?: number): Promise<OneServer> {
  const server = await startRedis({ own: true, args: ['--maxmemory-policy', 'noeviction'] })
  ends.push(() => server.stop())
  const admin = await connected(server.url)
  const leader = cacheOn({ url: server.url }, storeTimeout)
  const other = cacheOn({ client: await connected(server.url) })
  await until(async () => (await leader.lookup('warm', () => 1)).from === 'store')
  return { server, admin, leader, other }
}

/** Lets every master receive the next step, and break the connection instead of executing it. */
const stopWrites = (admins: readonly Client[]): Promise<unknown> =>
  Promise.all(admins.map((admin) => admin.sendCommand(['CLIENT', 'PAUSE', '60000', 'WRITE'])))

async function breakConnections(admins: readonly Client[]): Promise<void> {
  const clients = (): Promise<readonly unknown[]> =>
    Promise.all(admins.map((admin) => admin.sendCommand(['CLIENT', 'LIST', 'TYPE', 'normal'])))
  await until(async () => String(await clients()).includes(' flags=b'))
  for (const admin of admins) {
    await admin.sendCommand(['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'])
    await admin.sendCommand(['CLIENT', 'UNPAUSE'])
  }
}

/** True once the store answers `cache` that nobody holds the key's lease. */
async function isFree(cache: Cache, key: string): Promise<boolean> {
  const inspected = await cache.inspect(key)
  return inspected !== undefined && inspected.lease === null
}

async function expectNextLoad(cache: Cache, key: string): Promise<void> {
  const load = await cache.lookup(key, () => 'next')
  expect(load).toMatchObject({ value: 'next', outcome: { kind: 'committed' } })
}

describe.each(['in another process', 'in the same process'])('the next load %s', (where) => {
  const of = ({ leader, other }: OneServer): Cache => (where === 'in the same process' ? leader : other)

  test('begins when a commit was refused for want of memory, and memory is there again', async () => {
    const stage = await oneServer()
    const load = stage.leader.lookup('k', async () => {
      await stage.admin.configSet('maxmemory', '1')
      return 'unstored'
    })
    expect(await load).toMatchObject({ value: 'unstored', outcome: { kind: 'abandoned', why: 'away' } })
    await stage.admin.configSet('maxmemory', '0')
    await expectNextLoad(of(stage), 'k')
  })

  test('begins when a commit was refused by a server that was a replica for a while', async () => {
    const stage = await oneServer()
    const load = stage.leader.lookup('k', async () => {
      await stage.admin.sendCommand(['REPLICAOF', '127.0.0.1', '1'])
      return 'unstored'
    })
    expect(await load).toMatchObject({ outcome: { kind: 'abandoned', why: 'away' } })
    await stage.admin.sendCommand(['REPLICAOF', 'NO', 'ONE'])
    await expectNextLoad(of(stage), 'k')
  })

  test('begins when the connection broke at the commit', async () => {
    const stage = await oneServer()
    const load = stage.leader.lookup('k', async () => {
      await stopWrites([stage.admin])
      return 'unstored'
    })
    await breakConnections([stage.admin])
    expect(await load).toMatchObject({ outcome: { kind: 'abandoned', why: 'away' } })
    await until(() => isFree(of(stage), 'k'))
    await expectNextLoad(of(stage), 'k')
  })

  test('begins when the load ended while the server was frozen', async () => {
    const stage = await oneServer(100)
    const load = stage.leader.lookup('k', async () => {
      const opened = new Promise<void>((resolve) => stage.leader.on('breaker', () => resolve()))
      stage.server.pause()
      for (let index = 0; index < 20; index += 1) void stage.leader.get(`other ${index}`)
      await opened
      return 'unstored'
    })
    expect(await load).toMatchObject({ outcome: { kind: 'abandoned', why: 'away' } })
    stage.server.resume()
    await until(() => isFree(of(stage), 'k'))
    await expectNextLoad(of(stage), 'k')
  })
})

describe('a load that fails while the connection breaks', () => {
  test('leaves its cooldown', async () => {
    const { leader, other, admin } = await oneServer()
    const failing = leader.getOrSet('k', async () => {
      await stopWrites([admin])
      throw new Error('no source')
    })
    await Promise.all([expect(failing).rejects.toThrow('no source'), breakConnections([admin])])
    await until(() => isFree(other, 'k'))
    const cooling = { code: 'CATTLEGRID_LOAD_FAILED', attempts: 1 }
    await expect(other.getOrSet('k', () => 'next')).rejects.toMatchObject(cooling)
  })
})

describe('a flight that waits for a lease of its own process', () => {
  test('looks again at once when the load of that lease has ended without an answer', async () => {
    const { leader, admin } = await oneServer()
    const loading: (() => void)[] = []
    const first = leader.lookup('k', () => new Promise<string>((resolve) => loading.push(() => resolve('unstored'))))
    await until(() => loading.length === 1)
    // Detaches the first load, whose lease stays.
    await leader.invalidateTags(['unrelated'])
    const trace: string[] = []
    leader.on('follow', () => void trace.push('follow'))
    leader.on('wake', ({ by }) => void trace.push(by))
    const second = leader.lookup('k', () => 'next')
    await until(() => trace.length > 0)
    // It refuses the release, too, so that nothing is published.
    await admin.sendCommand(['REPLICAOF', '127.0.0.1', '1'])
    const since = trace.length
    loading[0]?.()
    expect(await first).toMatchObject({ outcome: { kind: 'abandoned', why: 'away' } })
    // No lease is granted, so the second load is not stored either.
    expect(await second).toMatchObject({ value: 'next', role: 'leader' })
    expect(trace.slice(since)).toContain('notice')
  })
})

describe('a lease whose commit failed', () => {
  async function expectFreed(view: View, admins: readonly Client[]): Promise<void> {
    const leader = cacheOn({ client: view })
    const load = leader.lookup('k', async () => {
      await stopWrites(admins)
      return 'value'
    })
    await breakConnections(admins)
    expect((await load).value).toBe('value')
    await until(() => isFree(leader, 'k'))
    // A Sentinel client sends the commit again.
    expect(['stored', 'loaded again']).toContain(
      (await leader.lookup('k', () => 'again')).value === 'again' ? 'loaded again' : 'stored',
    )
  }

  test('because its connections broke is released on a cluster, too', async () => {
    const servers = await startRedisCluster()
    ends.push(() => servers.stop())
    const cluster = createCluster({ rootNodes: [...servers.rootNodes] })
    cluster.on('error', () => undefined)
    await cluster.connect()
    ends.push(() => cluster.destroy())
    await expectFreed(cluster, await Promise.all(servers.masters.map(({ url }) => connected(url))))
  })

  test('because its connections broke is released behind Sentinel, too', async () => {
    const { name, sentinelRootNodes, master, stop } = await startRedisSentinel()
    ends.push(() => stop())
    const sentinel = createSentinel({ name, sentinelRootNodes: [...sentinelRootNodes], reserveClient: true })
    sentinel.on('error', () => undefined)
    await sentinel.connect()
    ends.push(() => sentinel.destroy())
    await expectFreed(sentinel, [await connected(master.url)])
  })

  test('because its slot is moving is released while the slot still moves', async () => {
    const servers = await startRedisCluster()
    ends.push(() => servers.stop())
    const cluster = createCluster({ rootNodes: [...servers.rootNodes] })
    cluster.on('error', () => undefined)
    await cluster.connect()
    ends.push(() => cluster.destroy())
    const slot = keySlot('cattlegrid:{k}')
    const owner = cluster.slots[slot]?.master.address
    const masters = await Promise.all(servers.masters.map(({ url }) => connected(url)))
    const isOwner = (url: string | undefined): boolean =>
      url?.endsWith(owner?.slice(owner.indexOf(':')) ?? '?') === true
    const from = masters.find(({ options }) => isOwner(options.url))
    const to = masters.find(({ options }) => !isOwner(options.url))
    const leader = cacheOn({ client: cluster })
    const load = leader.lookup('k', async () => {
      const idOf = (master: Client | undefined): Promise<string> => master?.clusterMyId() ?? Promise.resolve('')
      const [fromId, toId] = await Promise.all([idOf(from), idOf(to)])
      await to?.sendCommand(['CLUSTER', 'SETSLOT', `${slot}`, 'IMPORTING', fromId])
      await from?.sendCommand(['CLUSTER', 'SETSLOT', `${slot}`, 'MIGRATING', toId])
      return 'unstored'
    })
    expect(await load).toMatchObject({ outcome: { kind: 'abandoned', why: 'away' } })
    await until(async () => (await from?.clusterCountKeysInSlot(slot)) === 0)
  })
})
