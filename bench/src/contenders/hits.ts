import { channel, subscribe } from 'node:diagnostics_channel'
import { type Cache, type CacheOptions, createCache } from '@cattlegrid/core'
import { openTelemetryMetrics, openTelemetryTraces } from '@cattlegrid/metrics/opentelemetry'
import { prometheusMetrics } from '@cattlegrid/metrics/prometheus'
import { redisStore } from '@cattlegrid/redis'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base'
import { LRUCache } from 'lru-cache'
import { Registry } from 'prom-client'
import { openWith } from './cattlegrid.ts'
import type { Open, Opened, Setting } from './contender.ts'
import { connected } from './node-redis.ts'

/** Everything that a hit might have to look at; nobody listens to hits, but to what operators watch. */
const everyFeature = {
  staleWhileRevalidate: '5m',
  staleIfError: '1h',
  jitter: 0.1,
  earlyRefresh: { beta: 1 },
  maxLoads: 100,
} as const

const overMap: Open = async ({ load }) => {
  const map = new Map<string, unknown>()
  const get = async (key: string): Promise<unknown> => {
    if (!map.has(key)) map.set(key, await load(key))
    return map.get(key)
  }
  return { get, close: async () => undefined }
}

/** What is kept by hand: the least that an answer through a promise costs. */
export const floors: Readonly<Record<string, Open>> = {
  'async function over a Map': overMap,
  /** Shows whether it is the Redis client in the process that makes a hit in the near cache dearer. */
  'near a Redis client, async function over a Map': async (setting) => {
    const client = await connected(setting.redis ?? '')
    return { ...(await overMap(setting)), close: async () => client.destroy() }
  },
  /** The least that one subscriber costs a hit. */
  'async function over a Map, publishes each hit': async (setting) => {
    const hits = channel('bench:hit')
    subscribe('bench:hit', () => undefined)
    const { get, close } = await overMap(setting)
    const publishing = (key: string): Promise<unknown> => {
      hits.publish({ key, status: 'fresh', from: 'store', age: 0, freshFor: 0, size: 0, type: 'hit', cache: 'default' })
      return get(key)
    }
    return { get: publishing, close }
  },
  'async function over lru-cache': async ({ load, ttl }) => {
    const cache = new LRUCache<string, object>({ max: 10_000, ttl })
    const get = async (key: string): Promise<unknown> => {
      const kept = cache.get(key)
      if (kept !== undefined) return kept
      const value = (await load(key)) as object
      cache.set(key, value)
      return value
    }
    return { get, close: async () => undefined }
  },
}

/** The ways to ask our own cache, in memory unless a name says otherwise. */
export const ours: Readonly<Record<string, Open>> = {
  getOrSet: openWith({}),
  'getOrSet, every feature': async (setting) => tagged(createCache({ ttl: setting.ttl, ...everyFeature }), setting),
  'getOrSet, with a listener of hits': async (setting) =>
    memory(setting, (cache) => {
      cache.on('hit', () => undefined)
      return (key) => cache.getOrSet(key, () => setting.load(key))
    }),
  'getOrSet, with a subscriber of hits': async (setting) =>
    memory(setting, (cache) => {
      subscribe('cattlegrid:hit', () => undefined)
      return (key) => cache.getOrSet(key, () => setting.load(key))
    }),
  'getOrSet, with Prometheus': async (setting) => {
    const register = new Registry()
    return memory(setting, (cache) => {
      prometheusMetrics(cache, { register })
      return (key) => cache.getOrSet(key, () => setting.load(key))
    })
  },
  'getOrSet, with OpenTelemetry': async (setting) => {
    const meter = new MeterProvider().getMeter('bench')
    const tracer = new BasicTracerProvider().getTracer('bench')
    return memory(setting, (cache) => {
      openTelemetryMetrics(cache, { meter })
      openTelemetryTraces(cache, { tracer })
      return (key) => cache.getOrSet(key, () => setting.load(key))
    })
  },
  'getOrSet, one options object': async (setting) => {
    const options = { ttl: '1m' } as const
    return memory(setting, (cache) => (key) => cache.getOrSet(key, () => setting.load(key), options))
  },
  'getOrSet, new options every call': async (setting) =>
    memory(setting, (cache) => (key) => cache.getOrSet(key, () => setting.load(key), { ttl: '1m' })),
  'getOrSet, new options with tags every call': async (setting) =>
    memory(
      setting,
      (cache) => (key) => cache.getOrSet(key, () => setting.load(key), { ttl: '1m', tags: ['product', 'shop'] }),
    ),
  wrap: async (setting) => memory(setting, (cache) => cache.wrap(setting.load, { key: (key) => key })),
  get: async (setting) =>
    memory(
      setting,
      (cache) => async (key) => (await cache.get(key)) ?? (await cache.getOrSet(key, () => setting.load(key))),
    ),
  lookup: async (setting) => memory(setting, (cache) => (key) => cache.lookup(key, () => setting.load(key))),
  'near cache': near({}),
  'near cache, every feature': near(everyFeature, tagged),
}

function memory({ ttl }: Setting, ask: (cache: Cache) => Opened['get']): Opened {
  const cache = createCache({ ttl })
  return { get: ask(cache), close: () => cache.close() }
}

/** In front of Redis: hits never leave the process. */
function near(options: CacheOptions, ask: (cache: Cache, setting: Setting) => Opened = plain): Open {
  return async (setting) => {
    const client = await connected(setting.redis ?? '')
    const store = redisStore({ client, namespace: setting.namespace })
    // Copies are made anew now and then, as at work, but not so often that the time of a hit were that of reads.
    const cache = createCache({ ttl: setting.ttl, storeTimeout: '20s', near: { maxAge: '1m' }, ...options, store })
    const { get, close } = ask(cache, setting)
    return {
      get,
      close: async () => {
        await close()
        client.destroy()
      },
    }
  }
}

function plain(cache: Cache, { load }: Setting): Opened {
  return { get: (key) => cache.getOrSet(key, () => load(key)), close: () => cache.close() }
}

/** Its entries carry tags, and somebody watches it. */
function tagged(cache: Cache, { load }: Setting): Opened {
  for (const event of ['commit', 'load-failed', 'away'] as const) cache.on(event, () => undefined)
  const get = (key: string): Promise<unknown> =>
    cache.getOrSet(key, async (running) => {
      running.keep({ tags: ['product', 'shop'] })
      return await load(key)
    })
  return { get, close: () => cache.close() }
}
