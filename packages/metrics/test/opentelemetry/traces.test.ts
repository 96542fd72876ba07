import { AsyncLocalStorage } from 'node:async_hooks'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { openTelemetryTraces, type OpenTelemetryTracesOptions } from '@cattlegrid/metrics/opentelemetry'
import { type Context, context, type ContextManager, ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { type Pair, pairOfCaches, playEveryOutcome } from '../support/every-outcome.ts'

const storage = new AsyncLocalStorage<Context>()
const contexts: ContextManager = {
  active: () => storage.getStore() ?? ROOT_CONTEXT,
  with: (active, call, self, ...args) => storage.run(active, () => call.apply(self, args)),
  bind: (_, target) => target,
  enable: () => contexts,
  disable: () => contexts,
}

const exporter = new InMemorySpanExporter()
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
const tracer = provider.getTracer('test')

beforeAll(() => void context.setGlobalContextManager(contexts))
afterAll(() => context.disable())
beforeEach(() => exporter.reset())

function traced(options: OpenTelemetryTracesOptions = {}): Pair & { readonly stop: () => void } {
  const pair = pairOfCaches()
  return { ...pair, stop: openTelemetryTraces(pair.cache, { tracer, ...options }) }
}

const spans = (name?: string): readonly ReadableSpan[] =>
  exporter.getFinishedSpans().filter((span) => name === undefined || span.name === `cattlegrid.${name}`)
const idOf = (span: ReadableSpan | undefined): string | undefined => span?.spanContext().spanId
const millisecondsOf = ({ duration: [seconds, nanoseconds] }: ReadableSpan): number =>
  seconds * 1000 + nanoseconds / 1e6

describe('the spans of a cache', () => {
  it('are the lookup with its load and its commit, below the span of the caller', async () => {
    const { cache, runtime } = traced()
    const request = tracer.startSpan('request')
    const calls = context.with(trace.setSpan(context.active(), request), () =>
      ['leads', 'joins'].map((value) =>
        cache.getOrSet('k', () => new Promise((resolve) => runtime.schedule(() => resolve(value), 200))),
      ),
    )
    await runtime.advance(200)
    await Promise.all(calls)
    const [lookups, [load], [commit], [wait]] = [spans('lookup'), spans('load'), spans('commit'), spans('wait')]
    const leads = lookups.find((span) => span.attributes['cattlegrid.role'] === 'leader')
    const joins = lookups.find((span) => span.attributes['cattlegrid.role'] === 'follower')
    expect(lookups.map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual(
      Array.from({ length: 2 }, () => request.spanContext().spanId),
    )
    expect(load?.parentSpanContext?.spanId).toBe(idOf(leads))
    expect(commit?.parentSpanContext?.spanId).toBe(idOf(load))
    expect(wait?.parentSpanContext?.spanId).toBe(idOf(joins))
    expect(wait?.links.map((link) => link.context.spanId)).toEqual([idOf(load)])
    expect([...lookups, load, wait].map((span) => span && millisecondsOf(span))).toEqual([200, 200, 200, 200])
    expect(leads?.attributes).toEqual({
      'cattlegrid.cache': 'one',
      'cache.operation': 'get',
      'cache.hit': false,
      'cattlegrid.status': 'loaded',
      'cattlegrid.from': 'load',
      'cattlegrid.role': 'leader',
    })
    expect(load?.attributes).toMatchObject({ 'cattlegrid.leased': true, 'cattlegrid.outcome': 'committed' })
    expect(commit?.attributes).toMatchObject({ 'cache.operation': 'set', 'cache.ttl': 10 })
  })

  it('link the wait of a call that joins while the load runs to that load, and to no other', async () => {
    const { cache, runtime } = traced()
    const load = (): Promise<string> => new Promise((resolve) => runtime.schedule(() => resolve('value'), 200))
    const calls = [cache.getOrSet('a', load), cache.getOrSet('b', load)]
    await runtime.advance(100)
    calls.push(cache.getOrSet('b', load))
    await runtime.advance(100)
    await Promise.all(calls)
    const [wait] = spans('wait')
    expect(wait?.links.map((link) => link.context.spanId)).toEqual([idOf(spans('load')[1])])
    expect(wait && millisecondsOf(wait)).toBe(100)
  })

  it('tell every outcome, and end', async () => {
    const { stop, ...pair } = traced()
    await playEveryOutcome(pair)
    const outcomes = spans('load').map(({ attributes }) => attributes['cattlegrid.outcome'])
    expect(new Set(outcomes)).toEqual(new Set(['committed', 'failed', 'refused', 'uncacheable', 'abandoned']))
    expect(spans('load').length).toBe(10)
    expect(spans('lookup').length).toBe(13)
    expect(
      spans('commit')
        .map(({ status }) => status.code)
        .toSorted((one, other) => one - other),
    ).toEqual([...Array.from({ length: 4 }, () => SpanStatusCode.UNSET), SpanStatusCode.ERROR])
    const waits = spans('wait').map(({ attributes }) => attributes['cattlegrid.for'])
    expect(new Set(waits)).toEqual(new Set(['flight', 'lease']))
    expect(spans('load').flatMap(({ events }) => events.map(({ name }) => name))).toEqual(['cattlegrid.lease_lost'])
    const failed = spans('load').filter(({ attributes }) => attributes['cattlegrid.outcome'] === 'failed')
    expect(failed.map(({ attributes }) => attributes['error.type'])).toEqual(['TypeError', 'TypeError'])
    const before = spans().length
    stop()
    expect(spans().length).toBe(before)
  })

  it('of a background load have no parent', async () => {
    const { cache, runtime } = traced()
    await cache.set('k', 1)
    await runtime.advance(12_000)
    const request = tracer.startSpan('request')
    await context.with(trace.setSpan(context.active(), request), () => cache.getOrSet('k', () => 2))
    await runtime.advance(0)
    const [load] = spans('load')
    expect(load?.parentSpanContext).toBeUndefined()
    expect(load?.attributes).toMatchObject({ 'cattlegrid.background': true })
  })

  it('have hits and keys only where they are asked for', async () => {
    const { cache } = traced()
    await cache.getOrSet('secret', () => 1)
    await cache.getOrSet('secret', () => 2)
    expect(spans('lookup').length).toBe(1)
    expect(JSON.stringify(spans().map(({ attributes }) => attributes))).not.toContain('secret')
    exporter.reset()
    const asked = traced({ hits: true, keys: true })
    await asked.cache.set('k', 'value')
    await asked.cache.getOrSet('k', () => 2)
    expect(spans('lookup').map(({ attributes }) => attributes)).toEqual([
      expect.objectContaining({
        'cache.key': 'k',
        'cache.hit': true,
        'cache.ttl': 10,
        'cache.item_size': expect.any(Number),
      }),
    ])
  })

  it('that are open when it stops end', async () => {
    const { cache, runtime, stop } = traced()
    const call = cache.getOrSet('k', () => new Promise((resolve) => runtime.schedule(() => resolve(1), 200)))
    const joined = cache.getOrSet('k', () => 2)
    await runtime.advance(100)
    stop()
    expect(
      spans()
        .map(({ name }) => name)
        .toSorted((one, other) => one.localeCompare(other)),
    ).toEqual(['cattlegrid.load', 'cattlegrid.lookup', 'cattlegrid.lookup', 'cattlegrid.wait'])
    await runtime.advance(100)
    expect(await Promise.all([call, joined])).toEqual([1, 1])
    expect(spans().length).toBe(4)
  })
})
