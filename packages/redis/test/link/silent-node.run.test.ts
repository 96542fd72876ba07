import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { type Cache, type CacheOptions, createCache, type Store } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import type { RedisServer } from '@cattlegrid/testkit'
import { Cluster } from 'ioredis6'
import { createCluster } from 'redis'
import { type RedisClusterServers, startRedisCluster } from '../../../../test/support/redis-cluster.ts'
import { addressOf, closing } from '../support/ioredis.ts'
import { type Client, connect } from '../../../../test/support/redis-under-test.ts'
import { until } from '../../../../test/support/until.ts'

let servers: RedisClusterServers
/** A connection to each master. */
let observers: readonly Client[]
let namespaces = 0
const ends: (() => unknown)[] = []

beforeAll(async () => {
  // The masters that answer go on to serve their slots.
  servers = await startRedisCluster({ replicas: 0, args: ['--cluster-require-full-coverage', 'no'] })
  observers = await Promise.all(servers.masters.map(({ url }) => connect(url)))
})
afterEach(async () => {
  for (const master of servers.masters) master.resume()
  for (const end of ends.splice(0).toReversed()) await end()
})
afterAll(async () => {
  for (const observer of observers) observer.destroy()
  await servers.stop()
})

type RedisStoreClient = Parameters<typeof redisStore>[0]['client']

/** A client of the cluster. `unanswered`: the number of commands to the node at a port that have no answer. */
interface Watched {
  readonly client: RedisStoreClient
  unanswered(port: number): number
}

interface Sender {
  sendCommand(...args: never[]): Promise<unknown>
}

class Unanswered {
  readonly #counts = new Map<number, number>()

  of = (port: number): number => this.#counts.get(port) ?? 0

  count(port: number, node: Sender): void {
    const send = node.sendCommand.bind(node)
    node.sendCommand = (...args) => {
      this.#add(port, 1)
      const answer = send(...args)
      const settled = (): void => this.#add(port, -1)
      answer.then(settled, settled)
      return answer
    }
  }

  #add(port: number, change: number): void {
    this.#counts.set(port, this.of(port) + change)
  }
}

async function byNodeRedis(): Promise<Watched> {
  const client = createCluster({ rootNodes: [...servers.rootNodes] })
  client.on('error', () => undefined)
  await client.connect()
  ends.push(() => client.destroy())
  const commands = new Unanswered()
  // A node's client is derived from the object that sends.
  for (const { port, client: node } of client.masters)
    commands.count(port, Reflect.getPrototypeOf(node ?? {}) as Sender)
  return { client: client as RedisStoreClient, unanswered: commands.of }
}

/** The store sends by the nodes of a cluster object of its own. */
async function byIoRedis(): Promise<Watched> {
  const client = await closing(new Cluster(servers.rootNodes.map(({ url }) => addressOf(url))))
  ends.push(() => client.disconnect())
  const commands = new Unanswered()
  const duplicate = client.duplicate.bind(client)
  client.duplicate = (...args) => {
    const own = duplicate(...args)
    own.on('+node', (node: Sender & { readonly options: { readonly port: number } }) => {
      commands.count(node.options.port, node)
    })
    return own
  }
  return { client: client as unknown as RedisStoreClient, unanswered: commands.of }
}

interface Opened extends Watched {
  readonly store: Store
  readonly cache: Cache
  readonly namespace: string
  /** The keys that had no answer, and what the breakers did. */
  readonly away: string[]
  readonly breaker: string[]
}

const KEYS = Array.from({ length: 90 }, (_, index) => `key ${index}`)

async function open(watched: Watched, options: CacheOptions = {}): Promise<Opened> {
  const namespace = `silent-${(namespaces += 1)}`
  const store = redisStore({ client: watched.client, namespace })
  const cache = createCache({ store, ttl: '1h', outage: { maxAge: '1m' }, ...options })
  ends.push(() => cache.close())
  const opened: Opened = { ...watched, store, cache, namespace, away: [], breaker: [] }
  cache.on('away', ({ key }) => void opened.away.push(key))
  cache.on('breaker', ({ state, node }) => void opened.breaker.push(`${node?.split(':').at(-1)} ${state}`))
  await until(async () => (await mastersWithSubscribers(namespace)).length === 1)
  const noticed = new Set<string>()
  store.watch((notice) => notice.kind === 'committed' && noticed.add(notice.key))
  await Promise.all(KEYS.map((key) => cache.set(key, key, { tags: ['t'] })))
  // A notice that came later would drop a copy.
  await until(() => noticed.size === KEYS.length)
  for (let round = 0; round < 2; round += 1) await Promise.all(KEYS.map((key) => cache.get(key)))
  return opened
}

async function mastersWithSubscribers(namespace: string): Promise<readonly RedisServer[]> {
  const channel = `${namespace}:wake`
  const counts = await Promise.all(observers.map((observer) => observer.pubSubNumSub([channel])))
  return servers.masters.filter((_, place) => (counts[place]?.[channel] ?? 0) > 0)
}

/** A master with neither the tag numbers nor the subscription of the store. */
async function masterToSilence({ store, namespace }: Opened): Promise<RedisServer> {
  const subscribed = await mastersWithSubscribers(namespace)
  const master = servers.masters.find((one) => !subscribed.includes(one) && !isAt(one, store.partOf?.('tags').name))
  if (master === undefined) throw new Error('The cluster has too few masters')
  return master
}

function isAt({ port }: RedisServer, address: string | undefined): boolean {
  return address?.endsWith(`:${port}`) === true
}

function keysBy({ store }: Opened, silent: RedisServer): { readonly there: string[]; readonly elsewhere: string[] } {
  const isThere = (key: string): boolean => isAt(silent, store.partOf?.('entry', key).name)
  const [there, elsewhere] = [KEYS.filter(isThere), KEYS.filter((key) => !isThere(key))]
  expect(Math.min(there.length, elsewhere.length)).toBeGreaterThan(5)
  return { there, elsewhere }
}

/** Silences a master, and calls it until its breaker opens. */
async function silence(opened: Opened, master: RedisServer, keys: readonly string[]): Promise<void> {
  master.pause()
  await until(async () => {
    // New keys of that node, too: each is one more command in vain.
    await Promise.all([...keys, ...keys.map((key) => `${key} `)].map((key) => opened.cache.get(key)))
    return opened.breaker.includes(`${master.port} open`)
  })
}

async function originsOf({ cache }: Opened, keys: readonly string[]): Promise<readonly string[]> {
  const answers = await Promise.all(keys.map((key) => cache.lookup(key, never)))
  return [...new Set(answers.map(({ from }) => from))]
}

function never(): never {
  throw new Error('There is an entry')
}

describe.each([
  ['redis', byNodeRedis],
  ['ioredis', byIoRedis],
] as const)('one silent master of a cluster, by %s', (_, clientOf) => {
  test('keeps nothing from the callers of the others, and is sent a bounded number of commands', async () => {
    const opened = await open(await clientOf())
    const { cache, away, breaker } = opened
    const silent = await masterToSilence(opened)
    const { there, elsewhere } = keysBy(opened, silent)
    await silence(opened, silent, there)
    const before = away.length
    for (let round = 0; round < 50; round += 1) {
      expect(await originsOf(opened, elsewhere)).toEqual(['store'])
      expect(await originsOf(opened, there)).toEqual(['outage'])
    }
    await Promise.all(elsewhere.map((key) => cache.set(key, 'written')))
    expect(away.slice(before).filter((key) => elsewhere.includes(key))).toEqual([])
    expect(breaker).toEqual([`${silent.port} open`])
    // A window of steps, of two commands each, and the pings.
    expect(opened.unanswered(silent.port)).toBeGreaterThan(0)
    expect(opened.unanswered(silent.port)).toBeLessThan(1100)
    silent.resume()
    await until(() => breaker.at(-1) === `${silent.port} closed`)
    expect(await originsOf(opened, there)).toEqual(['store'])
    expect(opened.unanswered(silent.port)).toBe(0)
  })

  test('leaves the near copies of the others as they are', async () => {
    const opened = await open(await clientOf(), { near: { maxAge: '1h' } })
    const silent = await masterToSilence(opened)
    const { there, elsewhere } = keysBy(opened, silent)
    await until(async () => (await originsOf(opened, KEYS)).join() === 'near')
    await silence(opened, silent, there)
    expect(await originsOf(opened, elsewhere)).toEqual(['near'])
    expect(await originsOf(opened, there)).toEqual(['outage'])
  })

  test('that holds the tag numbers leaves tagged entries of the others usable, and their loads one a key', async () => {
    const opened = await open(await clientOf(), { tags: { maxAge: 0 } })
    const { cache, store, breaker } = opened
    const silent = servers.masters.find((master) => isAt(master, store.partOf?.('tags').name)) as RedisServer
    const { there, elsewhere } = keysBy(opened, silent)
    await silence(opened, silent, there)
    expect(await originsOf(opened, elsewhere)).toEqual(['store'])
    let loads = 0
    const load = (): number => (loads += 1)
    const cold = elsewhere.map((key) => `${key} cold`).filter((key) => !isAt(silent, store.partOf?.('entry', key).name))
    for (let round = 0; round < 5; round += 1)
      await Promise.all(cold.map((key) => cache.getOrSet(key, load, { tags: ['t'] })))
    expect(loads).toBe(cold.length)
    expect(breaker).toEqual([`${silent.port} open`])
  })
})
