import { type CacheOptions, createCache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import type { Setting } from '../contenders/contender.ts'
import * as naive from '../contenders/naive-lock.ts'
import { connected } from '../contenders/node-redis.ts'
import { peers } from '../contenders/peers.ts'
import type { Row } from '../run/result.ts'

/** A loader that may honour a signal. */
export interface FleetSetting extends Setting {
  readonly load: (key: string, signal?: AbortSignal) => Promise<unknown>
}

export interface FleetCache {
  /** `signal`: the client has gone. */
  readonly get: (key: string, signal: AbortSignal) => Promise<unknown>
  readonly close: () => Promise<unknown>
}

type OpenFleet = (setting: FleetSetting) => Promise<FleetCache>

interface Contender {
  readonly is: Row['is']
  readonly open: () => Promise<OpenFleet>
  /** Fills Redis before the run, so that nothing is learned from a source that answers at once. Default: the contender itself. */
  readonly prime?: OpenFleet
  /** Everything is in the processes: a flush empties them. */
  readonly local?: true
}

export const OURS = 'cattlegrid'
export const NO_LIMIT = 'cattlegrid, no limit'
/** The same once more: by how much two runs differ that differ in nothing. */
export const NO_LIMIT_AGAIN = 'cattlegrid, no limit, again'
const FIXED_LIMITS = [1, 3, 8, 25, 75]
export const FIXED: readonly string[] = FIXED_LIMITS.map(fixedName)

/** The machine that measures is busy by nature: nothing here is about the time-out. */
const STORE_TIMEOUT = '20s'

const noLimit = { maxLoads: false } as const

export const contenders: Readonly<Record<string, Contender>> = {
  'no lock': { is: 'floor', open: async () => openWithoutLock },
  'naive lock': { is: 'peer', open: async () => naive.open },
  'lru-cache per process': { ...peer('lru-cache fetch'), local: true },
  'async-cache-dedupe': peer('async-cache-dedupe'),
  cacheable: peer('cacheable'),
  bentocache: peer('bentocache'),
  [OURS]: ours({}),
  [`${OURS}, loadTimeout: '2s'`]: ours({ loadTimeout: '2s' }),
  [`${OURS}, load.signal honoured`]: ours({}, true),
  [NO_LIMIT]: ours(noLimit),
  [NO_LIMIT_AGAIN]: { ...ours(noLimit), is: 'floor' },
  ...Object.fromEntries(FIXED_LIMITS.map((maxLoads) => [fixedName(maxLoads), ours({ maxLoads })])),
}

function fixedName(maxLoads: number): string {
  return `${OURS}, maxLoads: ${maxLoads}`
}

function peer(name: string): Contender {
  return {
    is: 'peer',
    async open() {
      const found = await peers[name]?.()
      if (found === undefined) throw new Error(`there is no peer called ${name}`)
      return found.open
    },
  }
}

function ours(options: CacheOptions, honoursSignal = false): Contender {
  return { is: 'ours', open: async () => openOurs(options, honoursSignal), prime: openOurs(noLimit, false) }
}

function openOurs(options: CacheOptions, honoursSignal: boolean): OpenFleet {
  return async ({ load, ttl, redis = '', namespace }) => {
    const client = await connected(redis)
    const store = redisStore({ client, namespace })
    const cache = createCache({ ttl, store, storeTimeout: STORE_TIMEOUT, ...options })
    return {
      get: (key, signal) =>
        cache.getOrSet(key, (running) => load(key, honoursSignal ? running.signal : undefined), { signal }),
      close: async () => {
        await cache.close({ drain: 0 })
        client.destroy()
      },
    }
  }
}

/** What is written where nobody thinks of a stampede: GET, else load and SET. */
async function openWithoutLock({ load, ttl, redis = '', namespace }: Setting): ReturnType<OpenFleet> {
  const client = await connected(redis)
  return {
    async get(key) {
      const entry = `${namespace}:${key}`
      const text = await client.get(entry)
      if (text !== null) return JSON.parse(text)
      const value = await load(key)
      await client.set(entry, JSON.stringify(value), { expiration: { type: 'PX', value: ttl } })
      return value
    },
    close: () => client.close(),
  }
}
