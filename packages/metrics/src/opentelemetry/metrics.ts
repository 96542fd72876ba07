import type { Cache } from '@cattlegrid/core'
import { checkOptions, type OptionRules, processWide, rule } from '@cattlegrid/core/extend'
import { type Histogram, type Meter, metrics as openTelemetry, type ObservableResult } from '@opentelemetry/api'
import { CacheObservation } from '../cache-observation.ts'
import { bucketsOf, type CollectedId, collectedIds, type HistogramId, histogramIds, metrics } from '../catalogue.ts'
import { nameTaken, requireCache } from '../observed-cache.ts'
import type { OpenTelemetryMetricsOptions } from './options.ts'

const rules = {
  http: rule.boolean,
  meter: rule.object<Meter>('a Meter of @opentelemetry/api', 'createHistogram', 'createObservableCounter'),
} satisfies OptionRules<OpenTelemetryMetricsOptions>

interface Observed {
  readonly cache: Cache
  readonly stop: () => void
}

/**
 * The caches of each meter by name, of whichever copy of this package; `all` stands for the global meter, of
 * which each call gets another object.
 */
const observed = processWide('observed-caches/2', () => ({ all: {}, of: new WeakMap<object, Map<string, Observed>>() }))

/**
 * Makes the metrics of a cache as OpenTelemetry instruments: those of `prometheusMetrics`, under the names
 * that an exporter to Prometheus turns into the same ones, such as `cattlegrid.loads`. Every measurement has
 * the attribute `cache`. Set the global meter provider before, or give a meter.
 *
 * @returns a function that stops it.
 * @throws InvalidOptionError for an option that is unknown or has an invalid value; for a second open cache
 * with the same name.
 * @example
 * import { openTelemetryMetrics } from '@cattlegrid/metrics/opentelemetry'
 *
 * const stop = openTelemetryMetrics(cache)
 */
export function openTelemetryMetrics(cache: Cache, options?: OpenTelemetryMetricsOptions): () => void {
  const parsed = checkOptions('openTelemetryMetrics', options, rules)
  requireCache('openTelemetryMetrics', cache)
  const { meter = openTelemetry.getMeter('@cattlegrid/metrics'), http = true } = parsed
  const caches = cachesOf(parsed.meter ?? observed.all, cache.name)
  const histograms = new Map(histogramIds.map((id) => [id, histogramOf(meter, id)]))
  const observation = new CacheObservation(cache.root, {
    http,
    record: (id, labels, seconds) => histograms.get(id)?.record(seconds, { cache: cache.name, ...labels }),
  })
  const stops = collectedIds.map((id) => observe(meter, id, observation))
  const own: Observed = {
    cache,
    stop: () => {
      if (caches.get(cache.name) === own) caches.delete(cache.name)
      observation.stop()
      for (const stop of stops) stop()
    },
  }
  caches.set(cache.name, own)
  return own.stop
}

/**
 * The caches of a meter. One of this name that is closed gives the name up.
 *
 * @throws InvalidOptionError when an open one has it.
 */
function cachesOf(meter: object, name: string): Map<string, Observed> {
  const caches = observed.of.get(meter) ?? new Map<string, Observed>()
  observed.of.set(meter, caches)
  const known = caches.get(name)
  if (known?.cache.closed === false) throw nameTaken('openTelemetryMetrics', name, 'meter')
  known?.stop()
  return caches
}

function observe(meter: Meter, id: CollectedId, observation: CacheObservation): () => void {
  const { kind, help: description } = metrics[id]
  const options = { description, unit: unitOf(id) }
  const instrument =
    kind === 'counter'
      ? meter.createObservableCounter(nameOf(id), options)
      : meter.createObservableGauge(nameOf(id), options)
  const callback = (result: ObservableResult): void => {
    const { name: cache } = observation.cache
    for (const { labels, value } of observation.collect(id)) result.observe(value, { cache, ...labels })
  }
  instrument.addCallback(callback)
  return () => instrument.removeCallback(callback)
}

function histogramOf(meter: Meter, id: HistogramId): Histogram {
  const advice = { explicitBucketBoundaries: [...bucketsOf(id)] }
  return meter.createHistogram(nameOf(id), { description: metrics[id].help, unit: 's', advice })
}

/** An exporter to Prometheus adds the unit and `_total` again. */
function nameOf(id: CollectedId | HistogramId): string {
  return metrics[id].name
    .replace(/^cattlegrid_/, 'cattlegrid.')
    .replace(/_total$/, '')
    .replace(/_seconds$/, '')
}

function unitOf(id: CollectedId): string {
  return metrics[id].name.endsWith('_seconds_total') ? 's' : '1'
}
