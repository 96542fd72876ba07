import type { Registry } from 'prom-client'

/** Options of `prometheusMetrics`. */
export interface PrometheusOptions {
  /** The registry that gets the metrics. Default: the global `register` of `prom-client`. */
  readonly register?: Registry | undefined
  /** Counts the requests of cached routes, too, from the channel `cattlegrid:http`. Default: true. */
  readonly http?: boolean | undefined
}
