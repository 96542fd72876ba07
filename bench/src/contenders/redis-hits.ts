import { createCache } from '@cattlegrid/core'
import { type AnyRedisClient, redisStore } from '@cattlegrid/redis'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { openWith } from './cattlegrid.ts'
import type { Open, Opened } from './contender.ts'

interface Client {
  get(key: string): Promise<string | null>
  set(key: string, text: string): Promise<unknown>
}

/** Reads by hand: a GET, and JSON.parse. */
export const floors: Readonly<Record<string, Open>> = {
  'node-redis GET, no timer': async (setting) => {
    const client = await withoutTimer(setting.redis)
    return byHand(client, setting, async () => client.destroy())
  },
  /** What of the distance to ours is a read that others join and that ends in time, and not what is known of it. */
  'node-redis GET, joined, in time': async (setting) => {
    const client = await withoutTimer(setting.redis)
    return joined(client, setting, (key) => client.get(key))
  },
  /** What a read costs that is told the time left, too: without it nobody knows the age of what is read, unless by a host's clock. */
  'node-redis PTTL + GET, no timer': async (setting) => {
    const client = await withoutTimer(setting.redis)
    return byHand({ get: toldTimeBy(client), set: (key, text) => client.set(key, text) }, setting, async () =>
      client.destroy(),
    )
  },
  'node-redis PTTL + GET, joined, in time': async (setting) => {
    const client = await withoutTimer(setting.redis)
    return joined(client, setting, toldTimeBy(client))
  },
  'node-redis GET, default client': async ({ redis, ...setting }) => {
    const client = createClient({ url: redis ?? '' })
    client.on('error', () => {})
    await client.connect()
    return byHand(client, setting, async () => client.destroy())
  },
  'ioredis GET': async ({ redis, ...setting }) => {
    const client = new Redis(redis ?? '')
    return byHand(client, setting, async () => client.disconnect())
  },
}

export const ours: Readonly<Record<string, Open>> = {
  getOrSet: openWith({}),
  /** Shows whether the timer of the default client is paid for: then this one would be faster. */
  'getOrSet, client without timer': async ({ redis, ...setting }) => {
    const client = await withoutTimer(redis)
    return overClient(client, setting, async () => client.destroy())
  },
  'getOrSet, ioredis': async ({ redis, ...setting }) => {
    const client = new Redis(redis ?? '')
    return overClient(client, setting, async () => client.disconnect())
  },
  'getOrSet, every feature': openWith({
    staleWhileRevalidate: '5m',
    staleIfError: '1h',
    jitter: 0.1,
    earlyRefresh: { beta: 1 },
    maxLoads: 100,
  }),
}

/** Over a client that the application made. */
function overClient(client: AnyRedisClient, { load, ttl, namespace }: ByHand, close: Opened['close']): Opened {
  const cache = createCache({ ttl, store: redisStore({ client, namespace }), storeTimeout: '20s' })
  return {
    get: (key) => cache.getOrSet(key, () => load(key)),
    close: async () => {
      await cache.close()
      await close()
    },
  }
}

type NodeRedis = ReturnType<typeof createClient<{}, {}, {}, 3, {}>>

async function withoutTimer(url: string | undefined): Promise<NodeRedis> {
  const client = createClient({ url: url ?? '', commandOptions: { timeout: 0 } })
  client.on('error', () => {})
  await client.connect()
  return client
}

function toldTimeBy(client: NodeRedis): Client['get'] {
  return async (key) => (await Promise.all([client.pTTL(key), client.get(key)]))[1]
}

function joined(client: NodeRedis, setting: ByHand, read: Client['get']): Opened {
  const { get, stop } = inTime(read)
  return byHand({ get, set: (key, text) => client.set(key, text) }, setting, async () => {
    stop()
    client.destroy()
  })
}

/** How long a read may take, in ticks of one timer for all of them. */
const TICKS = 20
const TICK_MS = 1000

/** Callers of a key join the read that is under way; one that has no answer in time rejects. */
function inTime(read: Client['get']): { readonly get: Client['get']; readonly stop: () => void } {
  const running = new Map<string, Promise<string | null>>()
  const waiting = new Set<{ left: number; readonly giveUp: (error: Error) => void }>()
  const tick = (): void => {
    for (const one of waiting) if (--one.left === 0) one.giveUp(new Error('no answer in time'))
  }
  const begin = (key: string): Promise<string | null> =>
    new Promise((resolve, reject) => {
      const wait = { left: TICKS, giveUp: reject }
      waiting.add(wait)
      const over = (): void => {
        waiting.delete(wait)
        running.delete(key)
      }
      read(key).then(
        (text) => {
          over()
          resolve(text)
        },
        (error: unknown) => {
          over()
          reject(error)
        },
      )
    })
  const get = (key: string): Promise<string | null> => {
    const known = running.get(key)
    if (known !== undefined) return known
    const begun = begin(key)
    running.set(key, begun)
    return begun
  }
  const timer = setInterval(tick, TICK_MS).unref()
  return { get, stop: () => clearInterval(timer) }
}

type ByHand = Omit<Parameters<Open>[0], 'redis'>

function byHand(client: Client, { load, namespace }: ByHand, close: Opened['close']): Opened {
  const get = async (key: string): Promise<unknown> => {
    const text = await client.get(`${namespace}:${key}`)
    if (text !== null) return JSON.parse(text)
    const value = await load(key)
    await client.set(`${namespace}:${key}`, JSON.stringify(value))
    return value
  }
  return { get, close }
}
