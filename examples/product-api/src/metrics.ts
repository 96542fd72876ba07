import type { Cache } from '@cattlegrid/core'
import { prometheusMetrics } from '@cattlegrid/metrics/prometheus'
import { Registry } from 'prom-client'

/** The metrics of a cache, for `GET /metrics`. */
export interface MetricsPage {
  readonly contentType: string
  read(): Promise<string>
}

/** A registry of its own: a process may open the API more than once, as the tests do. */
export function metricsPageOf(cache: Cache): MetricsPage {
  const register = new Registry()
  prometheusMetrics(cache, { register })
  return { contentType: register.contentType, read: () => register.metrics() }
}
