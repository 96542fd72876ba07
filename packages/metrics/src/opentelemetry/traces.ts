import type { Cache, CacheEvent, EventName } from '@cattlegrid/core'
import { checkOptions, type OptionRules, rule } from '@cattlegrid/core/extend'
import { type Tracer, trace } from '@opentelemetry/api'
import { requireCache } from '../observed-cache.ts'
import { CacheSpans } from './cache-spans.ts'
import type { OpenTelemetryTracesOptions } from './options.ts'

const rules = {
  tracer: rule.object<Tracer>('a Tracer of @opentelemetry/api', 'startSpan'),
  hits: rule.boolean,
  keys: rule.boolean,
} satisfies OptionRules<OpenTelemetryTracesOptions>

/**
 * Makes spans of what a cache does: `cattlegrid.lookup` for each call that finds nothing to be served at
 * once, a child of the caller's active span, and below it `cattlegrid.load`, `cattlegrid.commit`, and
 * `cattlegrid.wait`. The wait of a call that joined another one's load links to that load's span. The load of
 * another process is not linked. What a loader does is no child of the load's span: it runs in the context of
 * its caller.
 *
 * @returns a function that stops it; spans that are still open end.
 * @throws InvalidOptionError for an option that is unknown or has an invalid value.
 * @example
 * import { openTelemetryTraces } from '@cattlegrid/metrics/opentelemetry'
 *
 * const stop = openTelemetryTraces(cache)
 */
export function openTelemetryTraces(cache: Cache, options?: OpenTelemetryTracesOptions): () => void {
  requireCache('openTelemetryTraces', cache)
  const parsed = checkOptions('openTelemetryTraces', options, rules)
  const { tracer = trace.getTracer('@cattlegrid/metrics'), hits = false, keys = false } = parsed
  const spans = new CacheSpans(tracer, cache, keys)
  const stops: (() => void)[] = []
  const on = <E extends EventName>(name: E, listener: (event: CacheEvent<E>) => void): void => {
    stops.push(cache.on(name, listener))
  }
  on('miss', (event) => spans.miss(event))
  on('answer', (event) => spans.answer(event))
  on('join', (event) => spans.join(event))
  on('follow', (event) => spans.follow(event))
  on('wake', (event) => spans.wake(event))
  on('load', (event) => spans.load(event))
  on('outcome', (event) => spans.outcome(event))
  on('lease-lost', (event) => spans.leaseLost(event))
  on('commit', (event) => spans.committed(event, event.ttl))
  on('refused', (event) => spans.refused(event))
  if (hits) on('hit', (event) => spans.hit(event))
  return () => {
    for (const stop of stops.splice(0)) stop()
    spans.end()
  }
}
