// The heap of one cache full of entries, in a process that holds nothing else.
import { createCache, memoryStore } from '@cattlegrid/core'
import { LRUCache } from 'lru-cache'
import type { Open } from './contenders/contender.ts'
import { floors } from './contenders/hits.ts'
import { peers } from './contenders/peers.ts'
import { serveAsMember } from './run/member.ts'

const [name = '', ...numbers] = process.argv.slice(2)
const [count = 10_000, size = 1000] = numbers.map(Number)

/** Room for all of them, where the contenders of the other benches have less. */
const roomy: Readonly<Record<string, Open>> = {
  cattlegrid: async ({ load, ttl }) => {
    const cache = createCache({ ttl, store: memoryStore({ maxEntries: count + 1, maxBytes: '1gb' }) })
    return { get: (key) => cache.getOrSet(key, () => load(key)), close: () => cache.close() }
  },
  Map: floors['async function over a Map'] ?? none,
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
const setting = { ttl: 3_600_000, stale: 0, redis: undefined, namespace: 'memory' }
const cache = await open({ ...setting, load: async (key) => value(key) })

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
    await new Promise((resolve) => setTimeout(resolve, 50))
    return (heap() - before) / entries
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
