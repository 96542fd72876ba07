// One process, one question at a time: what does one hit cost with so many of something?
import { setTimeout as sleep } from 'node:timers/promises'
import { type Cache, createCache, memoryStore } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { connected } from './contenders/node-redis.ts'
import { serveAsMember } from './run/member.ts'

const [redis = ''] = process.argv.slice(2)
const TTL = '1h'
/** Keys are asked for in an order that no cache of the processor foresees. */
const STRIDE = 7919

const client = await connected(redis)
// Sees what the store sees: no timer for every command.
const raw = client.withCommandOptions({ timeout: 0 })

let made = 0
function inRedis(near: boolean, namespace = `curves-${process.pid}-${(made += 1)}`): Cache {
  const store = redisStore({ client, namespace })
  return createCache({ ttl: TTL, store, storeTimeout: '20s', ...(near ? { near: { maxAge: '1m' } } : {}) })
}

/** CPU of one of them, µs. */
async function cost(count: number, work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}

async function inTurn(hits: number, keys: number, get: (key: string) => Promise<unknown>): Promise<void> {
  for (let hit = 0, key = 0; hit < hits; hit += 1, key = (key + STRIDE) % keys) await get(`product:${key}`)
}

/** After a first go, for the compiler. */
async function warmCost(hits: number, keys: number, get: (key: string) => Promise<unknown>): Promise<number> {
  await inTurn(Math.ceil(hits / 4), keys, get)
  return await cost(hits, () => inTurn(hits, keys, get))
}

serveAsMember({
  async keys(who: string, keys: number, hits: number) {
    const map = new Map<string, unknown>()
    const cache = createCache({ ttl: TTL, store: memoryStore({ maxEntries: keys }) })
    const ours = (key: string): Promise<unknown> => cache.getOrSet(key, () => ({ key }))
    const floor = async (key: string): Promise<unknown> => {
      if (!map.has(key)) map.set(key, { key })
      return map.get(key)
    }
    const get = who === 'floor' ? floor : ours
    for (let key = 0; key < keys; key += 1) await get(`product:${key}`)
    const ns = (await warmCost(hits, keys, get)) * 1000
    await cache.close()
    return ns
  },
  /** All of them at once, on a key that is not there. */
  async callers(where: string, callers: number) {
    const cache = where === 'redis' ? inRedis(false) : createCache({ ttl: TTL })
    const herd = (key: string): Promise<unknown> =>
      Promise.all(Array.from({ length: callers }, () => cache.getOrSet(key, () => sleep(20, { key }))))
    await herd('warm-up')
    await herd('warm-up again')
    const us = await cost(callers, () => herd('measured'))
    await cache.close()
    return us
  },
  async tags(tags: number, hits: number) {
    const cache = inRedis(true)
    const names = Array.from({ length: tags }, (_, index) => `tag-${index}`)
    const load = (key: string): Promise<unknown> => cache.getOrSet(key, () => ({ key }), { tags: names })
    await inTurn(100, 100, load)
    await sleep(200)
    // Once more from Redis: from here on copies are at hand.
    await inTurn(100, 100, (key) => cache.getOrSet(key, () => ({ key })))
    const ns = (await warmCost(hits, 100, (key) => cache.getOrSet(key, () => ({ key })))) * 1000
    await cache.close()
    return ns
  },
  async bytes(who: string, size: number, hits: number) {
    const text = 'x'.repeat(size)
    const cache = inRedis(false)
    await cache.getOrSet('product:0', () => ({ text }))
    await client.set('curves-raw:product:0', JSON.stringify({ text }))
    await sleep(200)
    const floor = async (key: string): Promise<unknown> => JSON.parse((await raw.get(`curves-raw:${key}`)) ?? 'null')
    const ours = (key: string): Promise<unknown> => cache.getOrSet(key, () => ({ text }))
    const us = await warmCost(hits, 1, who === 'floor' ? floor : ours)
    await cache.close()
    return us
  },
  /** Hits of near copies while another process invalidates a tag of theirs so many times a second. */
  async invalidated(namespace: string, duration: number) {
    const cache = inRedis(true, namespace)
    const get = (key: string): Promise<unknown> => cache.getOrSet(key, () => ({ key }), { tags: ['all'] })
    let hits = 0
    const us = await cost(1, async () => {
      const end = performance.now() + duration
      while (performance.now() < end) {
        await inTurn(100, 100, get)
        hits += 100
        await sleep(1)
      }
    })
    await cache.close()
    return us / hits
  },
  async invalidate(namespace: string, rate: number, duration: number) {
    const cache = inRedis(false, namespace)
    const end = performance.now() + duration
    while (performance.now() < end) {
      await cache.invalidateTags(['all'])
      await sleep(1000 / rate)
    }
    await cache.close()
  },
})
