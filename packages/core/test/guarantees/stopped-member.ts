// A process that hits one near copy, one hit in each callback of its event loop, and prints how many hits were far older than `maxAge` allows.
import { createCache, memoryStore, type Store } from '../../src/index.ts'
import type { Read } from '../../src/extend.ts'

const MAX_AGE = 50
const FAR_TOO_OLD = 500
const HITS_PER_TURN = 100

/** A shared store whose value is the moment of its read. */
function clockStore(): Store {
  let version = 0
  const found = (): Promise<Read> => {
    version += 1
    const now = performance.now()
    const entry = {
      value: Date.now(),
      version: String(version),
      committedAt: now,
      freshUntil: now + 3_600_000,
      expired: false,
      staleWhileRevalidate: 0,
      staleIfError: 0,
      loadTime: 0,
      tags: [],
      tagSeq: 0,
      size: 1,
      from: 'store' as const,
    }
    return Promise.resolve({ kind: 'found', entry })
  }
  const steps: Partial<Store> = {
    shared: true,
    peek: () => undefined,
    read: found,
    watch: (listener) => {
      queueMicrotask(() => listener({ kind: 'connected' }))
      return () => undefined
    },
    close: () => Promise.resolve(),
  }
  // No other step is asked for.
  return Object.assign(Object.create(memoryStore()) as Store, steps)
}

const cache = createCache({ store: clockStore(), ttl: '1h', near: { maxAge: MAX_AGE }, outage: false })
let [hits, old] = [0, 0]

function hit(): void {
  const copy = cache.peek<number>('k')
  if (copy === undefined) return
  hits += 1
  if (Date.now() - copy.value > FAR_TOO_OLD) old += 1
}

process.on('SIGTERM', () => {
  console.log(JSON.stringify({ hits, old }))
  process.exit()
})
console.log('ready')
for (;;) {
  await cache.getOrSet('k', () => 0)
  for (let count = 0; count < HITS_PER_TURN; count += 1) setImmediate(hit)
  await new Promise((resolve) => setImmediate(resolve))
}
