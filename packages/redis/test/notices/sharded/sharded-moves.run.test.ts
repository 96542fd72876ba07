import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { json } from '@cattlegrid/core'
import { type RedisClusterServers, startRedisCluster } from '../../../../../test/support/redis-cluster.ts'
import { keySlot } from '../../../src/link/key-slot.ts'
import { groupOf } from '../../../src/notices/sharded/sharded-channels.ts'
import { entryOf } from '../../../../../test/support/entries.ts'
import { type Client, connect } from '../../../../../test/support/redis-under-test.ts'
import {
  makeRedis6,
  makers,
  type Member,
  originsOf,
  receivesNotices,
  ShardedFleet,
  untilNear,
  untilSubscribed,
} from './sharded-fleet.ts'
import { until } from '../../../../../test/support/until.ts'

let servers: RedisClusterServers
let observers: readonly Client[]
let fleet: ShardedFleet

beforeAll(async () => {
  // The masters that answer go on to serve their slots.
  servers = await startRedisCluster({ replicas: 0, args: ['--cluster-require-full-coverage', 'no'] })
  observers = await Promise.all(servers.masters.map(({ url }) => connect(url)))
})
afterEach(async () => {
  for (const master of servers.masters) master.resume()
  await fleet.end()
})
afterAll(async () => {
  for (const observer of observers) observer.destroy()
  await servers.stop()
})

/** The place of the master that serves a slot. */
async function placeOf(slot: number): Promise<number> {
  const nodes = (await observers[0]?.sendCommand<string>(['CLUSTER', 'NODES'])) ?? ''
  const line = nodes.split('\n').find((node) =>
    node
      .split(' ')
      .slice(8)
      .some((range) => contains(range, slot)),
  )
  return servers.masters.findIndex((master) => line?.includes(`:${master.port}@`))
}

function contains(range: string, slot: number): boolean {
  const [first = NaN, last = first] = range.split('-').map(Number)
  return first <= slot && slot <= last
}

/** Moves a slot with its keys to the next master, and tells only those two; or the next one alone, from which the present one learns it. */
async function move(slot: number, tells: 'both' | 'next' = 'both'): Promise<void> {
  const place = await placeOf(slot)
  const [from, to] = [observers[place], observers[(place + 1) % 3]]
  const target = servers.masters[(place + 1) % 3]
  if (from === undefined || to === undefined || target === undefined) throw new Error('No such master')
  const set = (client: Client, ...args: string[]) => client.sendCommand(['CLUSTER', 'SETSLOT', String(slot), ...args])
  await set(to, 'IMPORTING', await from.clusterMyId())
  await set(from, 'MIGRATING', await to.clusterMyId())
  for (const key of await from.clusterGetKeysInSlot(slot, 1000))
    await from.sendCommand(['MIGRATE', '127.0.0.1', String(target.port), key, '0', '5000'])
  for (const client of tells === 'both' ? [to, from] : [to]) await set(client, 'NODE', await to.clusterMyId())
  await until(async () => (await placeOf(slot)) === (place + 1) % 3)
}

/** A key whose group has its channel in another slot, and one in the very slot of that channel. */
function keysOfOneGroup(): { readonly beside: string; readonly inside: string; readonly slot: number } {
  const names = Array.from({ length: 100_000 }, (_, index) => `move ${index}`)
  for (const beside of names) {
    const slot = keySlot(fleet.channels.ofKey(beside))
    if (keySlot(`{${beside}}`) === slot) continue
    const inside = names.find((name) => keySlot(`{${name}}`) === slot)
    if (inside !== undefined) return { beside, inside, slot }
  }
  throw new Error('No such keys')
}

const lookups = async ({ cache }: Member, keys: readonly string[]): Promise<readonly unknown[]> =>
  await Promise.all(keys.map((key) => cache.get(key)))

describe.each(makers)('a slot that moves, by %s', (_, make) => {
  test('without the slot of its channel leaves no near copy wrong', async () => {
    fleet = new ShardedFleet(servers, make)
    await fleet.listen()
    const [here, there] = [await fleet.open({ near: { maxAge: '1h' } }), await fleet.open()]
    const { beside } = keysOfOneGroup()
    await there.cache.set(beside, 'old')
    await untilNear(here, [beside])
    await move(keySlot(`{${beside}}`))
    await there.cache.set(beside, 'new')
    // The new node does not serve the channel of the group.
    await until(() => fleet.classic.some((message) => message.startsWith('committed ')))
    await until(async () => (await here.cache.get(beside)) === 'new')
    expect(here.notices.some(({ kind }) => kind === 'disconnected')).toBe(false)
  })

  test('with the slot of its channel leaves no near copy wrong, and the channel is followed', async () => {
    fleet = new ShardedFleet(servers, make)
    const [here, there] = [await fleet.open({ near: { maxAge: '1h' } }), await fleet.open()]
    const { beside, inside, slot } = keysOfOneGroup()
    await Promise.all([beside, inside].map((key) => there.cache.set(key, 'old')))
    await untilNear(here, [beside, inside])
    const parts: unknown[] = []
    here.store.watch((notice) => 'part' in notice && parts.push([notice.kind, receivesNotices(here, inside)]))
    await move(slot)
    await until(() => here.notices.some(({ kind }) => kind === 'disconnected'))
    await Promise.all([beside, inside].map((key) => there.cache.set(key, 'new')))
    await until(async () => (await lookups(here, [beside, inside])).join() === 'new,new')
    await untilSubscribed(here, inside)
    await untilNear(here, [beside, inside])
    await Promise.all([beside, inside].map((key) => there.cache.set(key, 'newest')))
    await until(async () => (await lookups(here, [beside, inside])).join() === 'newest,newest')
    expect(parts.slice(0, 2)).toEqual([
      ['disconnected', false],
      ['connected', true],
    ])
  })

  test('with the slot of its channel, of which its old master learns from the new one alone, leaves no near copy wrong', async () => {
    fleet = new ShardedFleet(servers, make)
    const [here, there] = [await fleet.open({ near: { maxAge: '1h' } }), await fleet.open()]
    const { inside, slot } = keysOfOneGroup()
    await there.cache.set(inside, 'old')
    await untilNear(here, [inside])
    await move(slot, 'next')
    await until(async () => (await there.store.put(inside, entryOf('new'), json)).kind === 'stored')
    await until(async () => (await here.cache.get(inside)) === 'new')
    expect(here.notices.some(({ kind }) => kind === 'disconnected')).toBe(true)
    // Nobody has told the old master that its move is over.
    for (const observer of observers) await observer.sendCommand(['CLUSTER', 'SETSLOT', String(slot), 'STABLE'])
  })
})

describe.each(makers)('one silent master of a cluster, by %s', (_, make) => {
  test('ends the near copies of its own groups, and no others, until it is heard again', async () => {
    fleet = new ShardedFleet(servers, make)
    const [here, there] = [await fleet.open({ near: { maxAge: '1h' } }), await fleet.open()]
    const keys = Array.from({ length: 60 }, (__, index) => `key ${index}`)
    await Promise.all(keys.map((key) => there.cache.set(key, 'old')))
    await untilNear(here, keys)
    const silent = await masterWithoutSubscribers()
    const isThere = (key: string): boolean =>
      here.store.partOf?.('entry', key).name.endsWith(`:${silent.port}`) === true
    const elsewhere = keys.filter((key) => !isThere(key))
    silent.pause()
    await until(() => here.notices.some(({ kind }) => kind === 'disconnected'))
    expect(await originsOf(here, elsewhere)).toEqual(['near'])
    expect(keys.filter((key) => !receivesNotices(here, key))).toEqual(keys.filter(isThere))
    silent.resume()
    await until(() => keys.every((key) => receivesNotices(here, key)))
    await until(async () => (await there.store.ping()).kind === 'done')
    await until(async () => {
      await Promise.all(keys.map((key) => there.cache.set(key, 'new').catch(() => undefined)))
      return (await lookups(here, keys)).every((value) => value === 'new')
    })
    const [, lost, back] = here.notices.filter(({ kind }) => kind === 'disconnected' || kind === 'connected')
    expect([lost, back]).toMatchObject([
      { kind: 'disconnected', part: expect.stringContaining(String(silent.port)) },
      { kind: 'connected', part: expect.stringContaining(String(silent.port)) },
    ])
  })
})

async function masterWithoutSubscribers() {
  const counts = await Promise.all(observers.map((observer) => observer.pubSubNumSub([fleet.keys.channel])))
  const master = servers.masters.find((__, place) => counts[place]?.[fleet.keys.channel] === 0)
  if (master === undefined) throw new Error('Each master has a subscriber')
  return master
}

test('every group has a channel of its own, in a slot of the group', () => {
  fleet = new ShardedFleet(servers, makeRedis6)
  const channels = Array.from({ length: 1024 }, (_, group) => fleet.channels.ofGroup(group))
  expect(channels.map((channel) => groupOf(channel))).toEqual(channels.map((__, group) => group))
  expect(new Set(channels).size).toBe(1024)
})
