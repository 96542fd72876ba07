import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { type Cache, type CacheEvent, type EventName, isCattlegridError, type Outcome } from '@cattlegrid/core'
import type { AuditEvent, HttpEvent } from '@cattlegrid/http'
import { AvoidedLoads } from './avoided-loads.ts'
import type { CollectedId, HistogramId, LabelsOf } from './catalogue.ts'
import { BoundedLabel, Counts, type Sample } from './counts.ts'

/** Takes one value of a histogram, in seconds. */
export type RecordSeconds = <H extends HistogramId>(id: H, labels: LabelsOf<H>, seconds: number) => void

export interface ObservationOptions {
  /** Counts the requests of cached routes, too. */
  readonly http: boolean
  readonly record: RecordSeconds
}

/** The reasons that a loader may give, and the details of responses. */
const MOST_REASONS = 50
/** The patterns of cached routes. */
const MOST_ROUTES = 500

/** Counts what one cache emits. Hits are never listened to: the cache counts them itself. */
export class CacheObservation {
  readonly cache: Cache
  readonly #record: RecordSeconds
  readonly #counts = new Map<CollectedId, Counts>()
  readonly #avoided: AvoidedLoads
  readonly #reasons = new BoundedLabel(MOST_REASONS)
  readonly #details = new BoundedLabel(MOST_REASONS)
  readonly #routes = new BoundedLabel(MOST_ROUTES)
  readonly #openBreakers = new Set<string>()
  /** By source. */
  readonly #loadLimits = new Map<string, number>()
  readonly #capacities = new Map<string, number>()
  readonly #stops: (() => void)[] = []
  /** The metrics that no event counts. */
  readonly #states: { readonly [K in CollectedId]?: () => readonly Sample[] } = {
    lookups: () => this.#lookups(),
    avoidedLoads: () => this.#avoided.loads,
    avoidedLoadSeconds: () => this.#avoided.seconds,
    loadsRunning: () => one(this.cache.stats().loading),
    waiters: () => one(this.cache.stats().waiting),
    leasesHeld: () => one(this.cache.stats().leases),
    loadLimit: () => ofEachSource(this.#loadLimits),
    sourceCapacity: () => ofEachSource(this.#capacities),
    breakerOpen: () => one(this.#openBreakers.size),
    noticesConnected: () => one(this.cache.stats().noticesConnected ? 1 : 0),
    disconnectedSeconds: () => one((this.#disconnectedFor + this.#disconnectedNow()) / 1000),
  }
  #disconnectedFor = 0
  #disconnectedSince: number | undefined

  constructor(cache: Cache, { http, record }: ObservationOptions) {
    this.cache = cache
    this.#record = record
    this.#avoided = new AvoidedLoads(cache)
    // These lines are there before the first event.
    this.#add('violations', { what: 'commit-after-loss' }, 0)
    for (const id of ['personalReads', 'takeovers', 'cooldowns', 'waitTimeouts', 'overloads'] as const)
      this.#add(id, {}, 0)
    this.#observeCalls()
    this.#observeLoads()
    this.#observeStore()
    if (http) this.#observeRequests()
  }

  stop(): void {
    for (const stop of this.#stops.splice(0)) stop()
  }

  collect(id: CollectedId): readonly Sample[] {
    return this.#states[id]?.() ?? this.#samples(id)
  }

  #observeCalls(): void {
    this.#on('stale-hit', ({ age }) => this.#record('staleAgeSeconds', {}, age / 1000))
    this.#on('wait-timeout', () => this.#add('waitTimeouts', {}))
    this.#on('answer', ({ status, from = '', role = '', age, waited, error }) => {
      if (isCattlegridError(error, 'CATTLEGRID_OVERLOADED')) this.#add('overloads', {})
      this.#add('lookups', { status, from, role })
      this.#record('waitSeconds', { status, role }, waited / 1000)
      if (status === 'stale') this.#record('staleAgeSeconds', {}, age / 1000)
      if (role === 'follower') this.#avoided.noteFollower()
    })
  }

  #observeLoads(): void {
    this.#on('load', ({ background, leased }) => {
      this.#add('loads', { background: String(background), leased: String(leased) })
      if (background) this.#avoided.noteBackgroundLoad()
    })
    this.#on('outcome', ({ outcome, took }) => this.#noteOutcome(outcome, took / 1000))
    this.#on('lead', ({ takeover }) => this.#add('takeovers', {}, takeover ? 1 : 0))
    this.#on('lease-lost', ({ why }) => this.#add('leasesLost', { reason: why }))
    this.#on('refused', ({ why }) => this.#add('commitsRefused', { reason: why }))
    this.#on('load-limit', ({ source, limit, typical }) => {
      this.#loadLimits.set(source, limit)
      if (typical > 0) this.#capacities.set(source, (1000 * limit) / typical)
    })
    this.#on('load-failed', () => this.#add('cooldowns', {}))
    this.#on('violation', ({ what }) => this.#add('violations', { what }))
  }

  #observeStore(): void {
    this.#on('away', ({ step }) => this.#add('storeErrors', { step }))
    this.#on('invalidate', ({ how }) => this.#add('invalidations', { how }))
    this.#on('breaker', ({ state, node = '' }) => {
      if (state === 'open') this.#openBreakers.add(node)
      else this.#openBreakers.delete(node)
    })
    this.#noteConnection()
    this.#on('notices', () => this.#noteConnection())
  }

  #observeRequests(): void {
    this.#subscribe('cattlegrid:http', (message) => this.#noteRequest(message as HttpEvent))
    this.#subscribe('cattlegrid:audit', (message) => this.#noteAudit(message as AuditEvent))
  }

  #subscribe(channel: string, note: (message: unknown) => void): void {
    const listener = (message: unknown): void => {
      try {
        note(message)
      } catch {
        // Node ends the process for what a subscriber of a channel throws.
      }
    }
    subscribe(channel, listener)
    this.#stops.push(() => unsubscribe(channel, listener))
  }

  #noteRequest({ cache, route, verdict, detail, fwd, took }: HttpEvent): void {
    if (cache !== this.cache.name) return
    const label = this.#routes.of(route ?? '')
    this.#add('httpRequests', { route: label, verdict, reason: this.#details.of(detail ?? fwd ?? '') })
    this.#record('httpRequestSeconds', { route: label, verdict }, took / 1000)
  }

  #noteAudit({ cache, route, result }: AuditEvent): void {
    if (cache === this.cache.name) this.#add('audits', { route: this.#routes.of(route ?? ''), result })
  }

  #noteOutcome(outcome: Outcome, seconds: number): void {
    const { kind } = outcome
    this.#record('loadSeconds', { outcome: kind }, seconds)
    const why = 'why' in outcome ? (outcome.why ?? '') : ''
    if (kind !== 'abandoned' || (why !== 'closed' && why !== 'no-waiters')) this.#avoided.noteLoad(seconds)
    if (kind === 'committed') return
    this.#add('notStored', { outcome: kind, reason: this.#reasons.of(why) })
    if (why === 'personal') this.#add('personalReads', {})
  }

  /** The hits, and the answers after a miss: a stale value may be either. */
  #lookups(): readonly Sample[] {
    const lookups = new Counts()
    for (const [status, counts] of Object.entries(this.cache.stats().hits))
      for (const [from, value] of Object.entries(counts)) lookups.add({ status, from, role: 'none' }, Number(value))
    for (const { labels, value } of this.#samples('lookups')) lookups.add(labels, value)
    return lookups.samples
  }

  #noteConnection(): void {
    this.#disconnectedFor += this.#disconnectedNow()
    this.#disconnectedSince = this.cache.stats().noticesConnected ? undefined : this.cache.runtime.now()
  }

  #disconnectedNow(): number {
    return this.#disconnectedSince === undefined ? 0 : this.cache.runtime.now() - this.#disconnectedSince
  }

  #on<E extends EventName>(name: E, listener: (event: CacheEvent<E>) => void): void {
    this.#stops.push(this.cache.on(name, listener))
  }

  #add<C extends CollectedId>(id: C, labels: LabelsOf<C>, amount?: number): void {
    let counts = this.#counts.get(id)
    if (counts === undefined) {
      counts = new Counts()
      this.#counts.set(id, counts)
    }
    counts.add(labels, amount)
  }

  #samples(id: CollectedId): readonly Sample[] {
    return this.#counts.get(id)?.samples ?? []
  }
}

function one(value: number): readonly Sample[] {
  return [{ labels: {}, value }]
}

function ofEachSource(values: ReadonlyMap<string, number>): readonly { labels: { source: string }; value: number }[] {
  return [...values].map(([source, value]) => ({ labels: { source }, value }))
}
