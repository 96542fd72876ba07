import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type Cache, createCache } from '@cattlegrid/core'
import { prometheusMetrics } from '@cattlegrid/metrics/prometheus'
import { redisStore } from '@cattlegrid/redis'
import { Registry } from 'prom-client'

const PROCESSES = 4
const CALLERS = 25
const ROUNDS = 20

/** Caches with a store, a registry and a connection each, as so many processes would have them. */
let caches: readonly { readonly cache: Cache; readonly register: Registry }[]

beforeAll(async () => {
  const url = process.env['CATTLEGRID_TEST_REDIS_URL'] ?? ''
  const namespace = `metrics-${randomUUID()}`
  caches = Array.from({ length: PROCESSES }, () => {
    const cache = createCache({ store: redisStore({ url, namespace }), ttl: '1h', storeTimeout: '20s' })
    const register = new Registry()
    prometheusMetrics(cache, { register })
    return { cache, register }
  })
  await Promise.all(caches.map(({ cache }) => cache.ready()))
})

afterAll(async () => {
  await Promise.all(caches.map(({ cache }) => cache.close()))
})

/** What a Prometheus server would add up: the metric over all processes, where its labels fit. */
async function sumOf(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
  let sum = 0
  for (const { register } of caches) {
    const values = (await register.getSingleMetric(name)?.get())?.values ?? []
    for (const one of values) {
      const line = one as typeof one & { readonly metricName?: string }
      if (line.metricName !== undefined && line.metricName !== `${name}_count`) continue
      if (Object.entries(labels).every(([label, value]) => line.labels[label] === value)) sum += line.value
    }
  }
  return sum
}

it('the metrics of several processes tell the loads per expiry, as the origin counts them', async () => {
  let originLoads = 0
  const origin = async (): Promise<string> => {
    originLoads += 1
    await new Promise((resolve) => setTimeout(resolve, 5))
    return `value ${originLoads}`
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    const calls = caches.flatMap(({ cache }) => Array.from({ length: CALLERS }, () => cache.getOrSet('k', origin)))
    await Promise.all(calls)
    await caches[round % PROCESSES]?.cache.delete('k')
  }
  const loads = await sumOf('cattlegrid_loads_total')
  const expiries = await sumOf('cattlegrid_invalidations_total', { how: 'delete' })
  const answers = await sumOf('cattlegrid_lookups_total')
  const avoided = await sumOf('cattlegrid_avoided_loads_total')
  expect([loads, expiries, answers]).toEqual([originLoads, ROUNDS, ROUNDS * PROCESSES * CALLERS])
  expect(loads / expiries).toBe(1)
  expect(loads + avoided).toBe(answers)
  expect(await sumOf('cattlegrid_load_seconds', { outcome: 'committed' })).toBe(loads)
})
