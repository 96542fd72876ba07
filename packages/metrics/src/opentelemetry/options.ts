import type { Meter, Tracer } from '@opentelemetry/api'

/** Options of `openTelemetryMetrics`. */
export interface OpenTelemetryMetricsOptions {
  /**
   * The meter that makes the instruments. Default: that of the global meter provider, with the name
   * `@cattlegrid/metrics`.
   */
  readonly meter?: Meter | undefined
  /**
   * Counts the requests and the audits of cached routes, too, from the channels `cattlegrid:http` and
   * `cattlegrid:audit`. Default: true.
   */
  readonly http?: boolean | undefined
}

/** Options of `openTelemetryTraces`. */
export interface OpenTelemetryTracesOptions {
  /**
   * The tracer that makes the spans. Default: that of the global tracer provider, with the name
   * `@cattlegrid/metrics`.
   */
  readonly tracer?: Tracer | undefined
  /** Makes a span for each hit, which costs several times what the hit does. Default: false. */
  readonly hits?: boolean | undefined
  /** Puts the key into each span, as `cache.key`. A key may hold personal data. Default: false. */
  readonly keys?: boolean | undefined
}
