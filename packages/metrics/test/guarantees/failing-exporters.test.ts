import { channel } from 'node:diagnostics_channel'
import { describe, expect, it } from '@jest/globals'
import { openTelemetryMetrics, openTelemetryTraces } from '@cattlegrid/metrics/opentelemetry'
import { prometheusMetrics } from '@cattlegrid/metrics/prometheus'
import { createNoopMeter, type Meter, type Tracer } from '@opentelemetry/api'
import { Registry } from 'prom-client'
import { pairOfCaches } from '../support/every-outcome.ts'

function throwNow(): never {
  throw new Error('broken')
}

describe('an exporter that throws', () => {
  it('changes no answer, at a miss, for a follower or at a hit, and each of its failures is an event', async () => {
    const { cache } = pairOfCaches()
    const tracer = { startSpan: throwNow, startActiveSpan: throwNow } satisfies Tracer
    const meter: Meter = Object.assign(createNoopMeter(), { createHistogram: () => ({ record: throwNow }) })
    openTelemetryTraces(cache, { tracer, hits: true })
    openTelemetryMetrics(cache, { meter })
    const failed = new Set<string>()
    cache.on('observer-failed', ({ event }) => failed.add(event))
    let loads = 0
    const load = (): string => `run ${(loads += 1)}`
    const answers = await Promise.all([cache.getOrSet('k', load), cache.getOrSet('k', load)])
    expect([...answers, await cache.getOrSet('k', load)]).toEqual(['run 1', 'run 1', 'run 1'])
    expect([...failed].toSorted()).toEqual(['answer', 'commit', 'hit', 'load', 'miss', 'outcome'])
  })

  it('does not end the process at a request over HTTP, whose event is published on a channel', async () => {
    const { cache } = pairOfCaches()
    const register = new Registry()
    const stop = prometheusMetrics(cache, { register })
    const histogram = register.getSingleMetric('cattlegrid_http_request_seconds') as unknown as { observe: () => void }
    let calls = 0
    histogram.observe = () => {
      calls += 1
      throwNow()
    }
    channel('cattlegrid:http').publish({ type: 'http', cache: cache.name, route: '/', verdict: 'hit', took: 1 })
    stop()
    // Node ends the process one tick after a subscriber has thrown.
    await new Promise(setImmediate)
    expect(calls).toBe(1)
  })
})
