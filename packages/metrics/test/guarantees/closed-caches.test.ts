import { type Cache, createCache } from '@cattlegrid/core'
import { openTelemetryMetrics } from '@cattlegrid/metrics/opentelemetry'
import { prometheusMetrics } from '@cattlegrid/metrics/prometheus'
import { expect, test } from '@jest/globals'
import { metrics } from '@opentelemetry/api'
import { Registry } from 'prom-client'

const register = new Registry()
const meter = metrics.getMeter('closed-caches')

test.each<[string, (cache: Cache) => () => void]>([
  ['a registry of Prometheus', (cache) => prometheusMetrics(cache, { register })],
  ['a meter of OpenTelemetry', (cache) => openTelemetryMetrics(cache, { meter })],
])('%s takes a cache of the same name once the first one is closed, and no earlier', async (_, observe) => {
  const [first, second, third] = [createCache(), createCache(), createCache()]
  const stopFirst = observe(first)
  expect(() => observe(second)).toThrow(
    /is 'default'; accepted: each cache once.*no other open cache.*or stop the other/,
  )
  await first.close()
  observe(second)
  stopFirst()
  expect(() => observe(third)).toThrow(/each cache once/)
  await second.close()
  await third.close()
})

test('the last figures of a closed cache stay until another one takes its name', async () => {
  const cache = createCache({ ttl: '1m', name: 'last' })
  prometheusMetrics(cache, { register })
  await cache.getOrSet('key', () => 1)
  await cache.close()
  expect(await register.metrics()).toMatch(/cattlegrid_loads_total\{[^}]*cache="last"[^}]*\} 1/)
})
