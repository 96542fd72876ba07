// The heap of one cache full of entries, or of keys that load, in a process that holds nothing else.
import { setTimeout as sleep } from 'node:timers/promises'
import { createCache, memoryStore } from '@cattlegrid/core'
import { LRUCache } from 'lru-cache'
import { openWith } from './contenders/cattlegrid.ts'
import type { Open } from './contenders/contender.ts'
import { floors } from './contenders/hits.ts'
import { keptByHand } from './contenders/kept-by-hand.ts'
import { peers } from './contenders/peers.ts'
import { serveAsMember } from './run/member.ts'

const [name = '', keys = '10000', bytes = '1000', redis] = process.argv.slice(2)
const [count, size] = [Number(keys), Number(bytes)]

/** Room for all of them, where the contenders of the other benches have less. */
const roomy: Readonly<Record<string, Open>> = {
  cattlegrid: async ({ load, ttl }) => {
    const cache = createCache({ ttl, store: memoryStore({ maxEntries: count + 1, maxBytes: '1gb' }) })
    return { get: (key) => cache.getOrSet(key, () => load(key)), close: () => cache.close() }
  },
  'cattlegrid, near copies': openWith({ near: { maxEntries: count + 1 } }),
  Map: floors['async function over a Map'] ?? none,
  ...keptByHand,
  'lru-cache': async ({ load }) => {
    const cache = new LRUCache<string, object>({ max: count + 1 })
    const get = async (key: string): Promise<unknown> => {
      const loaded = (await load(key)) as object
      cache.set(key, loaded)
      return loaded
    }
    return { get, close: async () => undefined }
  },
}

const open = roomy[name] ?? (await peers[name]?.())?.open ?? none
const setting = { ttl: 3_600_000, stale: 0, redis, namespace: `memory-${process.pid}` }
const loads = { running: 0 }
let ending: Promise<void> | undefined
const load = async (key: string): Promise<unknown> => {
  loads.running += 1
  await ending
  return value(key)
}
const cache = await open({ ...setting, load })

/** About `size` bytes of JSON, parsed from text as a value from elsewhere is: a string that is put together is another object in the heap. */
function value(key: string): unknown {
  return JSON.parse(JSON.stringify({ key, text: key.padEnd(size - 20, 'x') }))
}

serveAsMember({
  /** Bytes of heap for each entry, values included. */
  async fill(entries: number) {
    await cache.get('product:0')
    const before = heap()
    for (let index = 1; index <= entries; index += 1) await cache.get(`product:${index}`)
    await sleep(50)
    return (heap() - before) / entries
  },
  /** Bytes of heap for each key that is being loaded for one caller. */
  async load(amount: number) {
    await cache.get('product:0')
    const before = heap()
    loads.running = 0
    // They end with the process.
    ending = new Promise(() => undefined)
    for (let index = 1; index <= amount; index += 1) void cache.get(`product:${index}`)
    while (loads.running < amount) await sleep(10)
    return (heap() - before) / amount
  },
})

function heap(): number {
  globalThis.gc?.()
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

async function none(): Promise<never> {
  throw new Error(`there is no contender called ${name}`)
}
