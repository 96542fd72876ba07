// `npm test -- silent-node`: one of three masters of a cluster is stopped for 16 s under load. Prints what callers of the others, and its own, notice.
import { setTimeout as sleep } from 'node:timers/promises'
import { createCache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { createCluster } from 'redis'
import { startRedisCluster } from '../support/redis-cluster.ts'

const SECONDS = { before: 16, stopped: 16, after: 8 }
const KEYS = 300
/** Calls a second. */
const RATE = 2000
const BATCH_PAUSE = 5

const servers = await startRedisCluster({ replicas: 0, args: ['--cluster-require-full-coverage', 'no'] })
const client = createCluster({ rootNodes: [...servers.rootNodes] })
client.on('error', () => undefined)
try {
  await client.connect()
  await measure()
} finally {
  client.destroy()
  await servers.stop()
}

async function measure(): Promise<void> {
  const [silent] = servers.masters
  const store = redisStore({ client, namespace: 'silent-node' })
  const cache = createCache({ store, ttl: '1h', outage: { maxAge: '1m' } })
  await cache.ready({ timeout: '10s' })
  const keys = Array.from({ length: KEYS }, (_, index) => `key ${index}`)
  await Promise.all(keys.map((key) => cache.set(key, 'x'.repeat(1000))))
  const isThere = (key: string): boolean => store.partOf?.('entry', key).name.endsWith(`:${silent?.port}`) === true
  const [there, elsewhere] = [keys.filter(isThere), keys.filter((key) => !isThere(key))]
  const rows: Record<string, Record<string, string>> = {}
  const phase = async (name: string, seconds: number): Promise<void> => {
    const [others, own] = await Promise.all([ask(elsewhere, seconds), ask(there, seconds)])
    rows[name] = {
      'others, p50 ms': at(others, 0.5),
      'others, p99 ms': at(others, 0.99),
      'own, p50 ms': at(own, 0.5),
      'own, p99 ms': at(own, 0.99),
      loads: String(loads),
    }
    loads = 0
  }
  let loads = 0
  const ask = async (asked: readonly string[], seconds: number): Promise<readonly number[]> => {
    const took: number[] = []
    const end = performance.now() + seconds * 1000
    for (let next = 0; performance.now() < end; await sleep(BATCH_PAUSE)) {
      const batch = Array.from({ length: (RATE * BATCH_PAUSE) / 2000 }, () => asked[(next += 1) % asked.length] ?? '')
      for (const key of batch) {
        const begun = performance.now()
        void cache.getOrSet(key, () => String((loads += 1))).then(() => took.push(performance.now() - begun))
      }
    }
    return took.toSorted((a, b) => a - b)
  }
  await phase('warm-up', 4)
  await phase('before', SECONDS.before)
  silent?.pause()
  await phase(`stopped for ${SECONDS.stopped} s`, SECONDS.stopped)
  silent?.resume()
  await phase('after', SECONDS.after)
  console.table(rows)
  await cache.close()
}

function at(sorted: readonly number[], share: number): string {
  return (sorted[Math.floor(share * sorted.length)] ?? 0).toFixed(2)
}
