/**
 * A metric that both exporters have. Prometheus gets its name as it is; OpenTelemetry without `_total` and
 * the unit.
 */
export interface MetricRow {
  readonly name: `cattlegrid_${string}`
  readonly kind: 'counter' | 'gauge' | 'histogram'
  /** Beside `cache`, which every metric has. */
  readonly labels: readonly string[]
  readonly help: string
}

const rows = {
  lookups: {
    name: 'cattlegrid_lookups_total',
    kind: 'counter',
    labels: ['status', 'from', 'role'],
    help: 'Calls that may load, by their answer: fresh, stale, loaded or failed; from: store, near, outage or load; role: leader, follower or none.',
  },
  loads: {
    name: 'cattlegrid_loads_total',
    kind: 'counter',
    labels: ['background', 'leased'],
    help: 'Loads that began. Only a load under a lease can be stored; a background load had no caller that waited.',
  },
  avoidedLoads: {
    name: 'cattlegrid_avoided_loads_total',
    kind: 'counter',
    labels: ['by'],
    help: 'Calls that got a value without a load of their own: from an entry (hits less background loads) or as a follower of another load. Without a cache each would have been a load.',
  },
  avoidedLoadSeconds: {
    name: 'cattlegrid_avoided_load_seconds_total',
    kind: 'counter',
    labels: ['by'],
    help: 'The avoided loads times the mean time of a load of this cache so far. Counted from the first load on.',
  },
  loadSeconds: {
    name: 'cattlegrid_load_seconds',
    kind: 'histogram',
    labels: ['outcome'],
    help: 'The time of each load, by its outcome: committed, failed, uncacheable, refused or abandoned.',
  },
  waitSeconds: {
    name: 'cattlegrid_wait_seconds',
    kind: 'histogram',
    labels: ['status', 'role'],
    help: 'The time from the call to its answer, of calls that found nothing to be served at once.',
  },
  staleAgeSeconds: {
    name: 'cattlegrid_stale_age_seconds',
    kind: 'histogram',
    labels: [],
    help: 'The age of each stale value that was served, since its commit.',
  },
  notStored: {
    name: 'cattlegrid_not_stored_total',
    kind: 'counter',
    labels: ['outcome', 'reason'],
    help: 'Loads whose result was not stored, by reason; other: a reason beyond the first 50.',
  },
  personalReads: {
    name: 'cattlegrid_personal_reads_total',
    kind: 'counter',
    labels: [],
    help: 'Responses that were not shared because their handler had read something of its own client.',
  },
  audits: {
    name: 'cattlegrid_audits_total',
    kind: 'counter',
    labels: ['route', 'result'],
    help: 'Audits of cached routes, by what the comparison found: equal, different, or not-run where there was nothing to compare.',
  },
  loadsRunning: {
    name: 'cattlegrid_loads_running',
    kind: 'gauge',
    labels: [],
    help: 'The loads that run now.',
  },
  waiters: {
    name: 'cattlegrid_waiters',
    kind: 'gauge',
    labels: [],
    help: 'The calls that wait now, as maxWaiters counts them.',
  },
  waitTimeouts: {
    name: 'cattlegrid_wait_timeouts_total',
    kind: 'counter',
    labels: [],
    help: 'Calls that reached their waitTimeout.',
  },
  leasesHeld: {
    name: 'cattlegrid_leases_held',
    kind: 'gauge',
    labels: [],
    help: 'The leases that this process holds now.',
  },
  leasesLost: {
    name: 'cattlegrid_leases_lost_total',
    kind: 'counter',
    labels: ['reason'],
    help: 'Leases lost while their load ran: expired, voided, taken, tag-voided, or max-hold.',
  },
  commitsRefused: {
    name: 'cattlegrid_commits_refused_total',
    kind: 'counter',
    labels: ['reason'],
    help: 'Commits that the store refused because the lease was lost or voided.',
  },
  takeovers: {
    name: 'cattlegrid_takeovers_total',
    kind: 'counter',
    labels: [],
    help: 'Leases granted to a follower, because the lease that it waited for ended without a value.',
  },
  cooldowns: {
    name: 'cattlegrid_cooldowns_total',
    kind: 'counter',
    labels: [],
    help: 'Failed loads after which their key cools down.',
  },
  loadLimit: {
    name: 'cattlegrid_load_limit',
    kind: 'gauge',
    labels: ['source'],
    help: "With maxLoads: 'auto': the loads at once that all processes together may run from the source.",
  },
  sourceCapacity: {
    name: 'cattlegrid_source_capacity',
    kind: 'gauge',
    labels: ['source'],
    help: "With maxLoads: 'auto': the loads a second that the source is estimated to answer: the limit over the time of a load without a queue.",
  },
  overloads: {
    name: 'cattlegrid_overloads_total',
    kind: 'counter',
    labels: [],
    help: "With maxLoads: 'auto': calls that were refused because their load could not begin in time (CATTLEGRID_OVERLOADED).",
  },
  storeErrors: {
    name: 'cattlegrid_store_errors_total',
    kind: 'counter',
    labels: ['step'],
    help: 'Steps that the store did not answer in time. Steps that an open breaker keeps back are not counted.',
  },
  breakerOpen: {
    name: 'cattlegrid_breaker_open',
    kind: 'gauge',
    labels: [],
    help: 'The circuit breakers that are open now.',
  },
  noticesConnected: {
    name: 'cattlegrid_notices_connected',
    kind: 'gauge',
    labels: [],
    help: '1 while the notices of the store arrive, and near copies can be trusted; 0 while those of any node may be lost, and until they first arrive.',
  },
  disconnectedSeconds: {
    name: 'cattlegrid_disconnected_seconds_total',
    kind: 'counter',
    labels: [],
    help: 'The time during which notices of the store may have been lost.',
  },
  invalidations: {
    name: 'cattlegrid_invalidations_total',
    kind: 'counter',
    labels: ['how'],
    help: 'Writes and invalidations that the store executed: set, delete, expire, tags, expire-tags or clear.',
  },
  violations: {
    name: 'cattlegrid_violations_total',
    kind: 'counter',
    labels: ['what'],
    help: 'Broken guarantees: the store accepted the commit of a lease that it had refused to renew. Always 0, unless the store is at fault.',
  },
  httpRequests: {
    name: 'cattlegrid_http_requests_total',
    kind: 'counter',
    labels: ['route', 'verdict', 'reason'],
    help: 'Requests of cached routes, by the pattern of the route, the verdict of Cache-Status, and its detail or fwd.',
  },
  httpRequestSeconds: {
    name: 'cattlegrid_http_request_seconds',
    kind: 'histogram',
    labels: ['route', 'verdict'],
    help: 'The time from a request of a cached route to the end of its response.',
  },
} as const

export type MetricId = keyof typeof rows
export type HistogramId = { [K in MetricId]: (typeof rows)[K]['kind'] extends 'histogram' ? K : never }[MetricId]
/** The metrics that are read when they are collected. */
export type CollectedId = Exclude<MetricId, HistogramId>
export type LabelsOf<K extends MetricId> = { readonly [L in (typeof rows)[K]['labels'][number]]: string }

/** Every metric, by the name that the code has for it. */
export const metrics: { readonly [K in MetricId]: MetricRow } = rows

export const histogramIds: readonly HistogramId[] = idsOf((kind) => kind === 'histogram') as HistogramId[]
export const collectedIds: readonly CollectedId[] = idsOf((kind) => kind !== 'histogram') as CollectedId[]

/** From a hit in a store to a load that reaches its default loadTimeout, s. */
const SECONDS_BUCKETS: readonly number[] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
/** From a second to a day, s: the stale windows of entries. */
const AGE_BUCKETS: readonly number[] = [1, 5, 15, 30, 60, 300, 900, 3600, 14_400, 86_400]

export function bucketsOf(id: HistogramId): readonly number[] {
  return id === 'staleAgeSeconds' ? AGE_BUCKETS : SECONDS_BUCKETS
}

function idsOf(fits: (kind: MetricRow['kind']) => boolean): MetricId[] {
  return (Object.keys(rows) as MetricId[]).filter((id) => fits(rows[id].kind))
}
