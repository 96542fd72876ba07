// A process that fills one cache, and prints how much of its limit that holds, by the heap and the bytes outside of it.
import { createCache, type CacheOptions, memoryStore, type Store } from '../../src/index.ts'
import type { Entry, Read } from '../../src/extend.ts'

const LIMIT = 6 * 1024 ** 2
const parsed = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
const range = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index)

/** Values of one shape, and how many of them are twice the limit at least. */
const shapes: Readonly<Record<string, readonly [make: (id: number) => unknown, count: number]>> = {
  'tiny values': [(id) => id, 40_000],
  'small objects': [(id) => parsed({ id, name: `product ${id}` }), 40_000],
  strings: [(id) => parsed(`${id}${'x'.repeat(1000)}`), 12_000],
  'strings of two bytes a character': [(id) => parsed(`${id}${'я'.repeat(1000)}`), 6000],
  'lists of small objects': [(id) => parsed(range(100).map((row) => ({ id: id + row, price: row / 2 }))), 2000],
  'long lists': [(id) => parsed(range(1000).map((row) => ({ id: id + row, name: `row ${id} ${row}` }))), 150],
  dictionaries: [(id) => parsed(Object.fromEntries(range(300).map((row) => [`row:${id}:${row}`, row]))), 600],
  Maps: [(id) => new Map(range(100).map((row) => [`row:${id}:${row}`, { row }])), 1500],
  Buffers: [() => Buffer.allocUnsafeSlow(5000), 2500],
  'small views of large Buffers': [() => Buffer.allocUnsafeSlow(50_000).subarray(0, 50), 300],
}

const [shape = '', where = ''] = process.argv.slice(2)
const [make, count] = shapes[shape] ?? [() => undefined, 0]

/** A shared store that has every key, and keeps nothing. */
function endless(): Store {
  const found = (key: string): Promise<Read> => {
    const entry: Entry = {
      value: make(Number(key.slice(4))),
      version: '1',
      committedAt: 0,
      freshUntil: 2 ** 40,
      expired: false,
      staleWhileRevalidate: 0,
      staleIfError: 0,
      loadTime: 0,
      tags: [],
      tagSeq: 0,
      size: 1,
      from: 'store',
    }
    return Promise.resolve({ kind: 'found', entry })
  }
  const steps: Partial<Store> = {
    shared: true,
    peek: () => undefined,
    read: found,
    ping: () => Promise.resolve({ kind: 'done' }),
    watch: (listener) => {
      queueMicrotask(() => listener({ kind: 'connected' }))
      return () => undefined
    },
    close: () => Promise.resolve(),
  }
  // No other step is asked for.
  return Object.assign(Object.create(memoryStore()) as Store, steps)
}

const limits = { maxEntries: 1_000_000, maxBytes: LIMIT }
const options: CacheOptions =
  where === 'memory'
    ? { store: memoryStore(limits) }
    : { store: endless(), near: { ...limits, maxAge: '1h' }, outage: false }
const cache = createCache({ ttl: '1h', ...options })

async function fill(prefix: string, from: number, to: number): Promise<void> {
  for (let id = from; id < to; id += 1) {
    await cache.getOrSet(`${prefix}${id}`, () => make(id))
    // A hit, which makes the entry's promise.
    await cache.getOrSet(`${prefix}${id}`, () => make(id))
  }
}

function held(): number {
  globalThis.gc?.()
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

await fill('key:', 0, 10)
const before = held()
await fill('key:', 10, count)
await new Promise((resolve) => setTimeout(resolve, 50))
console.log((held() - before) / LIMIT)
await cache.close()
