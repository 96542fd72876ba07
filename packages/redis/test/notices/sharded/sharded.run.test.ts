import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { json } from '@cattlegrid/core'
import * as oldestIoRedis from 'ioredis-oldest'
import { type RedisClusterServers, startRedisCluster } from '../../../../../test/support/redis-cluster.ts'
import { entryOf, lead, put, request } from '../../../../../test/support/entries.ts'
import { addressOf, closing } from '../../support/ioredis.ts'
import { type Client, connect } from '../../../../../test/support/redis-under-test.ts'
import {
  makeRedis6,
  makers,
  receivesNotices,
  ShardedFleet,
  subscribers,
  untilNear,
  untilSubscribed,
} from './sharded-fleet.ts'
import { until } from '../../../../../test/support/until.ts'

let servers: RedisClusterServers
let observers: readonly Client[]
let fleet: ShardedFleet

beforeAll(async () => {
  servers = await startRedisCluster({ replicas: 0 })
  observers = await Promise.all(servers.masters.map(({ url }) => connect(url)))
})
afterEach(() => fleet.end())
afterAll(async () => {
  for (const observer of observers) observer.destroy()
  await servers.stop()
})

describe.each(makers)('sharded notices, by %s', (_, make) => {
  test('wake a follower in another process, on the channel of the group alone', async () => {
    fleet = new ShardedFleet(servers, make)
    await fleet.listen()
    const [leader, follower] = [await fleet.open(), await fleet.open()]
    const lease = await lead(leader.store, 'k')
    await untilSubscribed(follower, 'k')
    expect((await follower.store.acquire('k', { ...request, wake: true })).kind).toBe('held')
    expect((await leader.store.commit(lease, entryOf('v'), json)).kind).toBe('stored')
    await until(() => follower.notices.some((notice) => notice.kind === 'committed' && notice.key === 'k'))
    expect(fleet.classic).toEqual([])
    expect(await subscribers(observers, fleet.channels.ofKey('k'))).toBe(2)
  })

  test('report a long record, a release, an expiry and a deletion, too', async () => {
    fleet = new ShardedFleet(servers, make)
    await fleet.listen()
    const [here, there] = [await fleet.open(), await fleet.open()]
    await untilSubscribed(here, 'k')
    await there.cache.set('k', 'v'.repeat(10_000))
    await there.cache.expire('k')
    await there.cache.delete('k')
    const lease = await lead(there.store, 'k')
    await here.store.acquire('k', { ...request, wake: true })
    await there.store.release(lease, { kind: 'handover' })
    await until(() => here.notices.some(({ kind }) => kind === 'released'))
    expect(here.notices.filter((notice) => 'key' in notice).map(({ kind }) => kind)).toEqual([
      'committed',
      'expired',
      'deleted',
      'released',
    ])
    expect(fleet.classic).toEqual([])
  })

  test('end the near copies of other processes', async () => {
    fleet = new ShardedFleet(servers, make)
    await fleet.listen()
    const [here, there] = [await fleet.open({ near: { maxAge: '1h' } }), await fleet.open()]
    const keys = Array.from({ length: 50 }, (__, index) => `key ${index} {é}`)
    await Promise.all(keys.map((key) => there.cache.set(key, 'old')))
    await untilNear(here, keys)
    await Promise.all(keys.map((key) => there.cache.set(key, 'new')))
    await until(async () => {
      const values = await Promise.all(keys.map((key) => here.cache.get(key)))
      return values.every((value) => value === 'new')
    })
    await Promise.all(keys.map((key) => there.cache.delete(key)))
    await until(async () => (await here.cache.getMany(keys)).size === 0)
    expect(fleet.classic).toEqual([])
  })

  test('of groups that a process never used do not reach it', async () => {
    fleet = new ShardedFleet(servers, make)
    const [here, there] = [await fleet.open(), await fleet.open()]
    await untilSubscribed(here, 'used')
    await put(there.store, 'unused', 1)
    await put(there.store, 'used', 1)
    await until(() => here.notices.some(({ kind }) => kind === 'committed'))
    expect(here.notices.filter((notice) => 'key' in notice)).toEqual([{ kind: 'committed', key: 'used' }])
    expect(await subscribers(observers, fleet.channels.ofKey('unused'))).toBe(0)
  })

  test('are none for tags and a clear: those reach every process', async () => {
    fleet = new ShardedFleet(servers, make)
    const [here, there] = [await fleet.open(), await fleet.open()]
    await there.cache.invalidateTags(['t'])
    await there.cache.clear()
    await until(() => here.notices.some(({ kind }) => kind === 'cleared'))
    expect(here.notices.some(({ kind }) => kind === 'tags')).toBe(true)
  })
})

describe('a group of slots that is not subscribed yet', () => {
  test('wakes the flight that waits for a lease which has ended meanwhile', async () => {
    fleet = new ShardedFleet(servers, makeRedis6)
    const [leader, follower] = [await fleet.open(), await fleet.open()]
    const lease = await lead(leader.store, 'k')
    const held = follower.store.acquire('k', { ...request, wake: true })
    expect(receivesNotices(follower, 'k')).toBe(false)
    await held
    await leader.store.commit(lease, entryOf('v'), json)
    // The commit may have been published before the subscription: the follower takes the lease as released.
    await until(() => follower.notices.some((notice) => notice.kind === 'released' && notice.key === 'k'))
  })
})

test('a version of ioredis that does not know sharded channels is reported once, and keeps no near copies', async () => {
  fleet = new ShardedFleet(servers, async ({ rootNodes }) => {
    const client = await closing(new oldestIoRedis.Cluster(rootNodes.map(({ url }) => addressOf(url))))
    return { client: client as never, end: () => client.disconnect() }
  })
  const { cache, notices } = await fleet.open({ near: { maxAge: '1h' } })
  await cache.set('k', 'v')
  for (let round = 0; round < 3; round += 1) await cache.get('k')
  await until(() => notices.some(({ kind }) => kind === 'warning'))
  for (let round = 0; round < 3; round += 1)
    expect(await cache.lookup('k', () => 'none')).toMatchObject({ from: 'store' })
  expect(notices.filter(({ kind }) => kind === 'warning')).toHaveLength(1)
})
