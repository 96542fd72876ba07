import { type Cache, type CacheOptions, createCache, json, type Store } from '@cattlegrid/core'
import type { Notice } from '@cattlegrid/core/extend'
import { redisStore } from '@cattlegrid/redis'
import * as ioRedis5 from 'ioredis'
import * as ioRedis6 from 'ioredis6'
import * as redis6 from 'redis'
import * as redis5 from 'redis5'
import type { RedisClusterServers } from '../../../../../test/support/redis-cluster.ts'
import { ShardedChannels } from '../../../src/notices/sharded/sharded-channels.ts'
import { RedisKeys } from '../../../src/redis-keys.ts'
import { addressOf, closing } from '../../support/ioredis.ts'
import { type Client, connect } from '../../../../../test/support/redis-under-test.ts'
import { until } from '../../../../../test/support/until.ts'

type StoreClient = Parameters<typeof redisStore>[0]['client']

/** A client of a cluster, and what ends it. */
export type MakeClient = (
  servers: RedisClusterServers,
) => Promise<{ readonly client: StoreClient; readonly end: () => void }>

function byNodeRedis({ createCluster }: Pick<typeof redis6, 'createCluster'>): MakeClient {
  return async ({ rootNodes }) => {
    const client = createCluster({ rootNodes: [...rootNodes] })
    client.on('error', () => undefined)
    await client.connect()
    return { client, end: () => client.destroy() }
  }
}

function byIoRedis({ Cluster }: Pick<typeof ioRedis6, 'Cluster'>): MakeClient {
  return async ({ rootNodes }) => {
    const client = await closing(new Cluster(rootNodes.map(({ url }) => addressOf(url))))
    return { client, end: () => client.disconnect() }
  }
}

export const makeRedis6: MakeClient = byNodeRedis(redis6)

/** Each client that has sharded channels. */
export const makers: readonly (readonly [string, MakeClient])[] = [
  ['redis 6', makeRedis6],
  ['redis 5', byNodeRedis(redis5 as unknown as typeof redis6)],
  ['ioredis 6', byIoRedis(ioRedis6)],
  ['ioredis 5', byIoRedis(ioRedis5 as unknown as typeof ioRedis6)],
]

/** A process, as its store and its cache. */
export interface Member {
  readonly store: Store
  readonly cache: Cache
  readonly notices: readonly Notice[]
}

/** Members of one namespace with sharded notices, on a cluster. */
export class ShardedFleet {
  static #namespaces = 0
  readonly servers: RedisClusterServers
  readonly namespace = `sharded-${(ShardedFleet.#namespaces += 1)}`
  readonly keys = new RedisKeys(this.namespace)
  readonly channels = new ShardedChannels(this.keys.channel)
  /** What arrives on the channel of all. */
  readonly classic: string[] = []
  readonly #make: MakeClient
  readonly #ends: (() => unknown)[] = []

  constructor(servers: RedisClusterServers, make: MakeClient) {
    this.servers = servers
    this.#make = make
  }

  async open(options: CacheOptions = {}): Promise<Member> {
    const { client, end } = await this.#make(this.servers)
    this.#ends.push(end)
    const store = redisStore({ client, namespace: this.namespace, shardedNotices: true })
    const notices: Notice[] = []
    store.watch((notice) => void notices.push(notice))
    const cache = createCache({ store, ttl: '1h', ...options })
    this.#ends.push(() => cache.close())
    await until(() => notices.some(({ kind }) => kind === 'connected'))
    return { store, cache, notices }
  }

  async listen(): Promise<void> {
    const listener = await connect(this.servers.masters[0]?.url)
    this.#ends.push(() => listener.destroy())
    // The empty message is that of a store that checks its right to publish.
    await listener.subscribe(this.keys.channel, (message) => void (message !== '' && this.classic.push(message)))
  }

  async end(): Promise<void> {
    for (const end of this.#ends.splice(0).toReversed()) await end()
  }
}

/** True while the member receives notices about the key. */
export function receivesNotices({ store }: Member, key: string): boolean {
  return store.partOf?.('entry', key).receivesNotices(key) === true
}

/** Reads the key, and waits until the member receives notices about it. */
export async function untilSubscribed(member: Member, key: string): Promise<void> {
  await member.store.read(key, json)
  await until(() => receivesNotices(member, key))
}

/** Waits until each of the keys has a near copy. */
export async function untilNear(member: Member, keys: readonly string[]): Promise<void> {
  await until(async () => (await originsOf(member, keys)).join() === 'near')
}

/** Where the values of the keys come from. */
export async function originsOf({ cache }: Member, keys: readonly string[]): Promise<readonly string[]> {
  const answers = await Promise.all(keys.map((key) => cache.lookup(key, never)))
  return [...new Set(answers.map(({ from }) => from))]
}

function never(): never {
  throw new Error('There is an entry')
}

/** The number of subscriptions to a sharded channel. */
export async function subscribers(observers: readonly Client[], channel: string): Promise<number> {
  const counts = await Promise.all(observers.map((observer) => observer.pubSubShardNumSub([channel])))
  return counts.reduce((sum, count) => sum + (count[channel] ?? 0), 0)
}
