import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { bucketsOf, type CollectedId, collectedIds, type HistogramId, histogramIds, metrics } from '../catalogue.ts'
import type { CacheObservation } from '../cache-observation.ts'
import { nameTaken } from '../observed-cache.ts'

/** The metrics of one registry, which all its caches share. */
export class Families {
  readonly #registry: Registry
  readonly #observations = new Map<string, CacheObservation>()
  readonly #histograms = new Map<HistogramId, Histogram>()

  constructor(registry: Registry) {
    this.#registry = registry
    for (const id of collectedIds) registry.registerMetric(this.#collected(id))
    for (const id of histogramIds) {
      const { name, help, labels } = metrics[id]
      const labelNames = ['cache', ...labels]
      const buckets = [...bucketsOf(id)]
      this.#histograms.set(id, new Histogram({ name, help, labelNames, buckets, registers: [registry] }))
    }
  }

  /** False after somebody has cleared the registry. */
  get registered(): boolean {
    return this.#registry.getSingleMetric(metrics.lookups.name) !== undefined
  }

  /**
   * A closed cache gives its name up.
   *
   * @throws InvalidOptionError when the registry has an open cache of that name.
   */
  requireFree(name: string): void {
    const known = this.#observations.get(name)
    if (known?.cache.closed === false) throw nameTaken('prometheusMetrics', name, 'registry')
    known?.stop()
  }

  add(observation: CacheObservation): void {
    this.#observations.set(observation.cache.name, observation)
  }

  remove(observation: CacheObservation): void {
    const { name } = observation.cache
    if (this.#observations.get(name) === observation) this.#observations.delete(name)
  }

  observe(cache: string, id: HistogramId, labels: Readonly<Record<string, string>>, seconds: number): void {
    this.#histograms.get(id)?.observe({ cache, ...labels }, seconds)
  }

  #collected(id: CollectedId): Counter | Gauge {
    const { name, help, labels, kind } = metrics[id]
    const samples = (): { readonly labels: Record<string, string>; readonly value: number }[] =>
      [...this.#observations].flatMap(([cache, observation]) =>
        observation.collect(id).map((sample) => ({ labels: { cache, ...sample.labels }, value: sample.value })),
      )
    const Metric = kind === 'counter' ? Counter : Gauge
    const options = { name, help, labelNames: ['cache', ...labels], registers: [] }
    return new Metric({
      ...options,
      collect(this: Counter | Gauge) {
        this.reset()
        for (const sample of samples()) this.inc(sample.labels, sample.value)
      },
    })
  }
}
