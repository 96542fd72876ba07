// The process of one contender of burst.ts. Its arguments: the bound of its bulkhead, '' for the one of the library, and the server.
import { register } from 'node:module'
import { serveAsMember } from './run/member.ts'

const [bound = '', url = ''] = process.argv.slice(2)
if (bound !== '') register('./run/fixed-bulkhead.js', import.meta.url, { data: Number(bound) })
// Behind the hook.
const { createCache } = await import('@cattlegrid/core')
const { redisStore } = await import('@cattlegrid/redis')

// A waitTimeout that no burst needs: only the time limit of each step counts.
const cache = createCache({ store: redisStore({ url, namespace: 'burst' }), ttl: '1h', waitTimeout: '1m' })
let away = 0
cache.on('away', () => void (away += 1))
await cache.ready({ timeout: '10s' })

serveAsMember({
  async fill(keys: number, bytes: number) {
    for (let key = 0; key < keys; key += 1) await cache.set(`${bytes}:${key}`, 'x'.repeat(bytes))
  },
  /** Reads all at once. Returns the ms until the last has its value, and how many steps the store did not answer. */
  async read(keys: number, bytes: number) {
    away = 0
    const began = performance.now()
    await Promise.all(Array.from({ length: keys }, (_, key) => cache.get(`${bytes}:${key}`)))
    return { ms: performance.now() - began, away }
  },
})
