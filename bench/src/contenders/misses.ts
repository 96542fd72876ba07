import { openWith } from './cattlegrid.ts'
import type { Open } from './contender.ts'
import { openScoped } from './lru-cache-fetch.ts'
import { connected } from './node-redis.ts'
import { peers } from './peers.ts'

/** As many as the caches with a limit keep. */
const MOST_ENTRIES = 10_000

/** Shares the load of a key, and drops everything when it is full. */
const promisesInMap: Open = async ({ load }) => {
  const map = new Map<string, Promise<unknown>>()
  const get = (key: string): Promise<unknown> => {
    const known = map.get(key)
    if (known !== undefined) return known
    if (map.size === MOST_ENTRIES) map.clear()
    const loading = load(key)
    map.set(key, loading)
    return loading
  }
  return { get, close: async () => undefined }
}

/** The commands that a miss cannot do without: the read, a lock, the write. */
const readLockWrite: Open = async ({ load, ttl, redis = '', namespace }) => {
  const client = await connected(redis)
  const get = async (key: string): Promise<unknown> => {
    const name = `${namespace}:${key}`
    const kept = await client.get(name)
    if (kept !== null) return JSON.parse(kept) as unknown
    await client.set(`${name}:lock`, 'token', { condition: 'NX', expiration: { type: 'PX', value: 5000 } })
    const value = await load(key)
    await client.set(name, JSON.stringify(value), { expiration: { type: 'PX', value: ttl } })
    return value
  }
  return { get, close: async () => client.destroy() }
}

export const SHARED_PROMISE = 'a promise in a Map'
/** What a miss must do on top of lru-cache `fetch` so that its loader may ask the cache again, and may not hang. */
export const SCOPED_FETCH = 'lru-cache fetch, scope, time-out'
export const READ_LOCK_WRITE = 'GET, SET NX, SET'
export const OURS = 'getOrSet'

const named = ['lru-cache fetch', 'cache-manager', 'cacheable', 'bentocache']

/** Everything that takes part, by its name; `redis` means that entries are kept there. */
export const contenders: Readonly<Record<string, () => Promise<Open>>> = {
  [SHARED_PROMISE]: async () => promisesInMap,
  [READ_LOCK_WRITE]: async () => readLockWrite,
  [SCOPED_FETCH]: async () => openScoped,
  [OURS]: async () => openWith({}),
  'getOrSet, explained': async () => openWith({ explained: true }),
  ...Object.fromEntries(named.map((name) => [name, async () => (await peers[name]?.())?.open ?? promisesInMap])),
}

const inProcess = Object.keys(contenders).filter((name) => name !== READ_LOCK_WRITE)
const inRedis = Object.keys(contenders).filter((name) => name !== SHARED_PROMISE && !name.startsWith('lru-cache'))
export const places = { process: inProcess, redis: inRedis } as const
