import { createCache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
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
  'node-redis GET, no timer': async ({ redis, ...setting }) => {
    const client = createClient({ url: redis ?? '', commandOptions: { timeout: 0 } })
    client.on('error', () => {})
    await client.connect()
    return byHand(client, setting, async () => client.destroy())
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
  'getOrSet, client without timer': async ({ load, ttl, redis, namespace }) => {
    const client = createClient({ url: redis ?? '', commandOptions: { timeout: 0 } })
    client.on('error', () => {})
    await client.connect()
    const cache = createCache({ ttl, store: redisStore({ client, namespace }), storeTimeout: '20s' })
    return {
      get: (key) => cache.getOrSet(key, () => load(key)),
      close: async () => {
        await cache.close()
        client.destroy()
      },
    }
  },
  'getOrSet, every feature': openWith({
    staleWhileRevalidate: '5m',
    staleIfError: '1h',
    jitter: 0.1,
    earlyRefresh: { beta: 1 },
    maxLoads: 100,
  }),
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
