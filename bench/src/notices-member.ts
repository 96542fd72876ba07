// Many processes of a fleet, each as its store with connections of its own; or the process that invalidates.
import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { json, type Store } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { createCluster } from 'redis'
import { serveAsMember } from './run/member.ts'

/** What is measured. */
export interface Scene {
  readonly namespace: string
  readonly sharded: boolean
  readonly stores: number
  /** The keys that exist, and how many of them a process uses. */
  readonly population: number
  readonly keys: number
}

// So many stores have one client here.
EventEmitter.defaultMaxListeners = 0
const urls = process.argv.slice(2)
const cluster = createCluster({ rootNodes: urls.map((url) => ({ url })) })
cluster.on('error', () => undefined)
await cluster.connect()

let stores: Store[] = []
let messages = 0
let population = 0

function openStore({ namespace, sharded }: Scene): Store {
  return redisStore({ client: cluster, namespace, shardedNotices: sharded })
}

async function untilTrue(isSo: () => boolean): Promise<void> {
  for (let tries = 0; tries < 6000 && !isSo(); tries += 1) await sleep(10)
}

serveAsMember({
  async close() {
    await Promise.all(stores.map((store) => store.close()))
    stores = []
  },
  /** Opens the stores, each with the notices of keys at random. */
  async open(scene: Scene) {
    population = scene.population
    let connected = 0
    stores = Array.from({ length: scene.stores }, () => openStore(scene))
    for (const store of stores)
      store.watch((notice) => {
        if ('key' in notice) messages += 1
        else if (notice.kind === 'connected') connected += 1
      })
    await untilTrue(() => connected >= scene.stores)
    const uses = stores.map((store) => ({
      store,
      keys: Array.from({ length: scene.keys }, () => `product:${Math.floor(Math.random() * population)}`),
    }))
    // The first read of a key subscribes.
    for (const { store, keys } of uses) await Promise.all(keys.map((key) => store.read(key, json)))
    const receives = (store: Store, key: string): boolean => store.partOf?.('entry', key).receivesNotices(key) !== false
    for (const { store, keys } of uses) await untilTrue(() => keys.every((key) => receives(store, key)))
    messages = 0
  },
  /** Invalidates keys at random, `rate` a second. Returns how many. */
  async invalidate(rate: number, duration: number) {
    const begin = performance.now()
    const [store] = stores
    let sent = 0
    const pending: Promise<unknown>[] = []
    while (performance.now() - begin < duration) {
      for (; sent < ((performance.now() - begin) * rate) / 1000; sent += 1)
        pending.push(
          store?.invalidate(`product:${Math.floor(Math.random() * population)}`, 'delete', 0) ?? Promise.resolve(),
        )
      await sleep(1)
    }
    await Promise.all(pending)
    return sent
  },
  messages: () => messages,
})
