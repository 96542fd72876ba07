import { describe, expect, it } from '@jest/globals'
import { createCache } from '@cattlegrid/core'
import { logEvents } from '@cattlegrid/metrics/logs'
import { openTelemetryMetrics, openTelemetryTraces } from '@cattlegrid/metrics/opentelemetry'
import { prometheusMetrics } from '@cattlegrid/metrics/prometheus'
import { Registry } from 'prom-client'
import { optionsTable } from '../options-table.ts'

const cache = createCache()
const calls: Readonly<Record<string, (options: unknown) => () => void>> = {
  PrometheusOptions: (options) => prometheusMetrics(cache, { register: new Registry(), ...(options as object) }),
  OpenTelemetryMetricsOptions: (options) => openTelemetryMetrics(cache, options as never),
  OpenTelemetryTracesOptions: (options) => openTelemetryTraces(cache, options as never),
  LogOptions: (options) => logEvents(cache, console, options as never),
}

describe.each(Object.entries(optionsTable))('%s', (name, rows) => {
  const call = (options: unknown): (() => void) => calls[name]?.(options) ?? (() => undefined)
  const refused = Object.entries(rows).flatMap(([option, values]) => values.map((value) => [option, value] as const))

  it.each(refused)('%s: %p is refused by name', (option, value) => {
    expect(() => call({ [option]: value })).toThrow(
      expect.objectContaining({ code: 'CATTLEGRID_INVALID_OPTION', option: expect.stringContaining(option) }),
    )
  })

  it.each(Object.keys(rows))('%s: undefined means not given', (option) => {
    expect(() => call({ [option]: undefined })()).not.toThrow()
  })

  it('refuses an unknown option', () => {
    expect(() => call({ keyz: true })).toThrow(expect.objectContaining({ code: 'CATTLEGRID_INVALID_OPTION' }))
  })
})
