import type { Registry } from 'prom-client'

/** Options of `prometheusMetrics`. */
export interface PrometheusOptions {
  /** The registry that gets the metrics. Default: the global `register` of `prom-client`. */
  readonly register?: Registry | undefined
  /**
   * Counts the requests and the audits of cached routes, too, from the channels `cattlegrid:http` and
   * `cattlegrid:audit`. Default: true.
   */
  readonly http?: boolean | undefined
}
