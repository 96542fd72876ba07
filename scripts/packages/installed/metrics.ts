import { strict as assert } from 'node:assert'
import { createCache } from '@cattlegrid/core'
import { prometheusMetrics } from '@cattlegrid/metrics/prometheus'
import { register } from 'prom-client'

/** A cache whose loads are counted. */
export async function check(): Promise<void> {
  const cache = createCache({ name: 'products', ttl: '30s' })
  prometheusMetrics(cache)
  const loads = await Promise.all(Array.from({ length: 20 }, () => cache.getOrSet('7', async () => 'loaded')))
  assert.equal(loads.length, 20)
  assert.match(await register.metrics(), /^cattlegrid_loads_total\{cache="products".*\} 1$/m)
}
