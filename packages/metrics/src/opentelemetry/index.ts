export { openTelemetryMetrics } from './metrics.ts'
export type { OpenTelemetryMetricsOptions, OpenTelemetryTracesOptions } from './options.ts'
export { openTelemetryTraces } from './traces.ts'
