import type { Cache, CacheEvent, EventName } from '@cattlegrid/core'
import {
  type Attributes,
  type Context,
  context,
  type Span,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api'

/** A span, and the moment at which it began, ms. */
interface OpenSpan {
  readonly span: Span
  readonly began: number
}

/** The span of a call that has missed. */
interface Lookup extends OpenSpan {
  /** The call waits for this flight, or as the one that began it for a lease. */
  wait: { readonly flight: number; readonly span: Span } | undefined
}

type Keyed = CacheEvent<
  Exclude<EventName, 'breaker' | 'load-limit' | 'notices' | 'warning' | 'observer-failed' | 'close'>
>
type OfFlight = CacheEvent<'commit' | 'refused'>

/** The open spans of one cache, by the numbers of their calls and flights. */
export class CacheSpans {
  readonly #tracer: Tracer
  readonly #cache: Cache
  readonly #keys: boolean
  readonly #lookups = new Map<number, Lookup>()
  readonly #loads = new Map<number, OpenSpan>()
  /** The open waits, by their flight. */
  readonly #waits = new Map<number, Set<Span>>()

  constructor(tracer: Tracer, cache: Cache, keys: boolean) {
    this.#tracer = tracer
    this.#cache = cache
    this.#keys = keys
  }

  hit(event: CacheEvent<'hit'>): void {
    const { status, from, freshFor, size } = event
    const { span, began } = this.#start('lookup', event, {
      'cache.operation': 'get',
      'cache.hit': true,
      'cache.ttl': freshFor / 1000,
      'cache.item_size': size,
      'cattlegrid.status': status,
      'cattlegrid.from': from,
      'cattlegrid.role': 'none',
    })
    span.end(began)
  }

  miss(event: CacheEvent<'miss'>): void {
    const attributes = { 'cache.operation': 'get', 'cache.hit': false }
    const span = this.#start('lookup', event, attributes, { ago: event.took })
    this.#lookups.set(event.call, { ...span, wait: undefined })
  }

  answer({ call, status, from, role, error }: CacheEvent<'answer'>): void {
    const lookup = this.#lookups.get(call)
    if (lookup === undefined) return
    this.#lookups.delete(call)
    this.#endWait(lookup)
    lookup.span.setAttribute('cattlegrid.status', status)
    if (from !== undefined) lookup.span.setAttribute('cattlegrid.from', from)
    if (role !== undefined) lookup.span.setAttribute('cattlegrid.role', role)
    if (status === 'failed') fail(lookup.span, error)
    lookup.span.end(this.#now())
  }

  join(event: CacheEvent<'join'>): void {
    const wait = this.#beginWait(event, 'flight')
    const load = this.#loads.get(event.flight)
    if (load !== undefined) wait?.addLink({ context: load.span.spanContext() })
  }

  follow(event: CacheEvent<'follow'>): void {
    this.#beginWait(event, 'lease')
  }

  wake({ call, flight, by }: CacheEvent<'wake'>): void {
    const lookup = this.#lookups.get(call)
    if (lookup?.wait?.flight !== flight) return
    lookup.wait.span.setAttribute('cattlegrid.woken_by', by)
    this.#endWait(lookup)
  }

  load(event: CacheEvent<'load'>): void {
    const { call, flight, background, leased } = event
    const parent = background ? undefined : this.#lookups.get(call)
    const attributes = { 'cattlegrid.background': background, 'cattlegrid.leased': leased }
    const load = this.#start('load', event, attributes, { parent })
    this.#loads.set(flight, load)
    for (const span of this.#waits.get(flight) ?? []) span.addLink({ context: load.span.spanContext() })
  }

  /**
   * Ends the span of the load, at the moment at which its loader had ended: the store's answer came later.
   */
  outcome({ flight, outcome, took }: CacheEvent<'outcome'>): void {
    const load = this.#loads.get(flight)
    if (load === undefined) return
    this.#loads.delete(flight)
    load.span.setAttribute('cattlegrid.outcome', outcome.kind)
    if ('why' in outcome && outcome.why !== undefined) load.span.setAttribute('cattlegrid.reason', outcome.why)
    if (outcome.kind === 'failed') fail(load.span, outcome.error)
    load.span.end(load.began + took)
  }

  leaseLost({ flight, why }: CacheEvent<'lease-lost'>): void {
    this.#loads.get(flight)?.span.addEvent('cattlegrid.lease_lost', { 'cattlegrid.reason': why }, this.#now())
  }

  committed(event: OfFlight, ttl: number): void {
    this.#commit(event, { 'cache.ttl': ttl / 1000 }).end(this.#now())
  }

  refused(event: CacheEvent<'refused'>): void {
    const span = this.#commit(event, { 'cattlegrid.reason': event.why })
    span.setStatus({ code: SpanStatusCode.ERROR })
    span.end(this.#now())
  }

  /** Ends what is open. */
  end(): void {
    for (const lookup of this.#lookups.values()) this.#endWait(lookup)
    for (const { span } of [...this.#lookups.values(), ...this.#loads.values()]) span.end(this.#now())
    this.#lookups.clear()
    this.#loads.clear()
  }

  /** A call waits for one thing at a time. */
  #beginWait(event: CacheEvent<'join' | 'follow'>, what: 'flight' | 'lease'): Span | undefined {
    const { call, flight } = event
    const lookup = this.#lookups.get(call)
    if (lookup === undefined) return undefined
    this.#endWait(lookup)
    const { span } = this.#start('wait', event, { 'cattlegrid.for': what }, { parent: lookup })
    lookup.wait = { flight, span }
    this.#waits.set(flight, (this.#waits.get(flight) ?? new Set()).add(span))
    return span
  }

  #endWait(lookup: Lookup): void {
    if (lookup.wait === undefined) return
    const { flight, span } = lookup.wait
    lookup.wait = undefined
    const waits = this.#waits.get(flight)
    waits?.delete(span)
    if (waits?.size === 0) this.#waits.delete(flight)
    span.end(this.#now())
  }

  #commit(event: OfFlight, attributes: Attributes): Span {
    const parent = this.#loads.get(event.flight)
    return this.#start('commit', event, { 'cache.operation': 'set', ...attributes }, { parent, ago: event.took }).span
  }

  #start(
    step: 'lookup' | 'wait' | 'load' | 'commit',
    event: Keyed,
    attributes: Attributes,
    { parent, ago = 0 }: { readonly parent?: OpenSpan | undefined; readonly ago?: number } = {},
  ): OpenSpan {
    const began = this.#now() - ago
    const about = { 'cattlegrid.cache': event.cache, ...(this.#keys ? { 'cache.key': event.key } : {}) }
    const options = { startTime: began, attributes: { ...about, ...attributes } }
    return { span: this.#tracer.startSpan(`cattlegrid.${step}`, options, contextOf(step, parent)), began }
  }

  #now(): number {
    return this.#cache.runtime.timeOfDay()
  }
}

/** A lookup belongs to what its caller does. A background load belongs to nobody who waits. */
function contextOf(step: string, parent: OpenSpan | undefined): Context {
  if (parent !== undefined) return trace.setSpan(context.active(), parent.span)
  return step === 'lookup' ? context.active() : trace.deleteSpan(context.active())
}

/** Without the message, which may hold what must not leave the process. */
function fail(span: Span, error: unknown): void {
  span.setAttribute('error.type', error instanceof Error ? error.name : typeof error)
  span.setStatus({ code: SpanStatusCode.ERROR })
}
