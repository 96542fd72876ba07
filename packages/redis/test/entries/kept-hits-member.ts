// A process that reads one entry again and again, and prints the bytes a hit that only a major collection frees.
import { createCache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'

const HITS = 2000
const CALLERS = 64
/** Until all code is optimized. */
const WARM_UP = 30_000

const [, , url = '', namespace = ''] = process.argv
const cache = createCache({ ttl: '1h', store: redisStore({ url, namespace }), storeTimeout: '20s' })
await cache.ready()

async function hits(count: number, name: string): Promise<void> {
  for (let hit = 0; hit < count; hit += 1) await cache.getOrSet(`${name}${hit % 2}`, () => 'x'.repeat(960))
}

await Promise.all(Array.from({ length: CALLERS }, (_, caller) => hits(WARM_UP / CALLERS, `${caller}-`)))
const collect = globalThis.gc as unknown as (options?: { type: 'minor' }) => void
collect()
await hits(HITS, '0-')
collect({ type: 'minor' })
collect({ type: 'minor' })
const before = process.memoryUsage().heapUsed
collect()
process.stdout.write(String((before - process.memoryUsage().heapUsed) / HITS))
await cache.close()
