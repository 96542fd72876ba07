/** For each option of the package: what it refuses. */
export const optionsTable: Readonly<Record<string, Readonly<Record<string, readonly unknown[]>>>> = {
  PrometheusOptions: {
    register: [null, 1, 'global', {}],
    http: [null, 1, 'on'],
  },
  OpenTelemetryMetricsOptions: {
    meter: [null, 1, 'meter', {}],
    http: [null, 1, 'on'],
  },
  OpenTelemetryTracesOptions: {
    tracer: [null, 1, 'tracer', {}],
    hits: [null, 1, 'on'],
    keys: [null, 1, 'on'],
  },
  LogOptions: {
    every: [null, -1, 'soon'],
    keys: [null, 1, 'on'],
    errors: [null, 1, 'on'],
  },
}
