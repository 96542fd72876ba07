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
/** A smoke run weighs few keys, and need not be right. ms */
const SETTLED_AFTER = count < 1000 ? 50 : 3000

/** Room for all of them, where the contenders of the other benches have less. */
const roomy: Readonly<Record<string, Open>> = {
  cattlegrid: async ({ load, ttl }) => {
    const cache = createCache({ ttl, store: memoryStore({ maxEntries: count + 1, maxBytes: '1gb' }) })
    return { get: (key) => cache.getOrSet(key, () => load(key)), close: () => cache.close() }
  },
  // Loads that never end are weighed, too, so no limit may follow them.
  'cattlegrid, near copies': openWith({
    near: { maxEntries: count + 1, maxAge: '1h' },
    outage: false,
    maxLoads: count + 1,
  }),
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
  /** Bytes of heap for each entry, values included: for those that come after the first `others`. */
  async fill(others: number, amount: number) {
    await ask(0, others)
    await settle()
    const before = heap()
    await ask(others, amount)
    await settle()
    return (heap() - before) / amount
  },
  /** The same for each entry that was read: a near cache has a copy of no other. */
  async read(others: number, amount: number) {
    await ask(0, others + amount)
    await ask(0, others)
    await settle()
    const before = heap()
    await ask(others, amount)
    await settle()
    return (heap() - before) / amount
  },
  /** The same for each key that is being loaded for one caller. */
  async load(others: number, amount: number) {
    await cache.get('product:warm')
    // They end with the process.
    ending = new Promise(() => undefined)
    await loadFrom(0, others)
    const before = heap()
    await loadFrom(others, amount)
    return (heap() - before) / amount
  },
})

async function ask(start: number, amount: number): Promise<void> {
  for (let index = start; index < start + amount; index += 1) await cache.get(`product:${index}`)
}

/** What a cache remembers of keys that were asked for a moment ago belongs to no entry. */
async function settle(): Promise<void> {
  await sleep(SETTLED_AFTER)
}

async function loadFrom(start: number, amount: number): Promise<void> {
  loads.running = 0
  for (let index = start; index < start + amount; index += 1) void cache.get(`product:${index}`)
  while (loads.running < amount) await sleep(10)
}

function heap(): number {
  globalThis.gc?.()
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

async function none(): Promise<never> {
  throw new Error(`there is no contender called ${name}`)
}
