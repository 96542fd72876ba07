import { describe, expect, it } from '@jest/globals'
import { openTelemetryMetrics } from '@cattlegrid/metrics/opentelemetry'
import { prometheusMetrics } from '@cattlegrid/metrics/prometheus'
import {
  AggregationTemporality,
  DataPointType,
  type Histogram,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { Registry } from 'prom-client'
import { pairOfCaches, playEveryOutcome } from '../support/every-outcome.ts'

/** Counts and gauges by the name and the labels that Prometheus would give them; of a histogram its count and its sum. */
type Values = Readonly<Record<string, number>>

const lineOf = (name: string, labels: Readonly<Record<string, unknown>>): string =>
  `${name} ${JSON.stringify(Object.entries(labels).toSorted(([one], [other]) => one.localeCompare(other)))}`

async function valuesOfRegistry(register: Registry): Promise<Values> {
  const values: Record<string, number> = {}
  for (const metric of await register.getMetricsAsJSON())
    for (const sample of metric.values as { labels: Record<string, string>; value: number; metricName?: string }[])
      if (!('le' in sample.labels)) values[lineOf(sample.metricName ?? metric.name, sample.labels)] = sample.value
  return values
}

function valuesOfExporter(exporter: InMemoryMetricExporter): Values {
  const values: Record<string, number> = {}
  for (const { descriptor, dataPoints, dataPointType } of exporter
    .getMetrics()
    .at(-1)
    ?.scopeMetrics.flatMap((one) => one.metrics) ?? [])
    for (const { attributes, value } of dataPoints) {
      const name = descriptor.name.replaceAll('.', '_') + (descriptor.unit === 's' ? '_seconds' : '')
      if (typeof value === 'number') {
        const total = dataPointType === DataPointType.SUM ? '_total' : ''
        values[lineOf(name + total, attributes)] = value
      } else {
        const { count, sum = 0 } = value as Histogram
        values[lineOf(`${name}_count`, attributes)] = count
        values[lineOf(`${name}_sum`, attributes)] = sum
      }
    }
  return values
}

describe('the instruments of OpenTelemetry', () => {
  it('have the names, labels and values of the metrics of Prometheus', async () => {
    const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })
    const provider = new MeterProvider({ readers: [reader] })
    const register = new Registry()
    const pair = pairOfCaches()
    const stop = openTelemetryMetrics(pair.cache, { meter: provider.getMeter('test') })
    prometheusMetrics(pair.cache, { register })
    await playEveryOutcome(pair)
    await reader.forceFlush()
    const values = valuesOfExporter(exporter)
    expect(Object.keys(values).length).toBeGreaterThan(40)
    expect(values).toEqual(await valuesOfRegistry(register))
    stop()
    await pair.cache.getOrSet('k', () => 'unseen')
    await reader.forceFlush()
    expect(valuesOfExporter(exporter)).toEqual(values)
    await provider.shutdown()
  })
})
