import type { Cache } from '@cattlegrid/core'
import { checkOptions, type OptionRules, processWide, rule } from '@cattlegrid/core/extend'
import { register as globalRegistry, type Registry } from 'prom-client'
import { CacheObservation } from '../cache-observation.ts'
import { requireCache } from '../observed-cache.ts'
import { Families } from './families.ts'
import type { PrometheusOptions } from './options.ts'

export type { PrometheusOptions } from './options.ts'

const rules = {
  http: rule.boolean,
  register: rule.object<Registry>('a Registry of prom-client', 'registerMetric', 'getSingleMetric', 'metrics'),
} satisfies OptionRules<PrometheusOptions>

/** Of whichever copy of this package: a registry takes a metric of one name once. */
const familiesOf = processWide('metric-families/1', () => new WeakMap<Registry, Families>())

/**
 * Adds the metrics of a cache to a registry of `prom-client`. Every metric has the label `cache`, with the
 * cache's `name`; no label ever holds a key or a URL. Several caches may share a registry. Hits are counted
 * by the cache itself, and read when the metrics are: a hit costs nothing more.
 *
 * @returns a function that takes the cache out again; its histograms stay as they are.
 * @throws InvalidOptionError for an option that is unknown or has an invalid value; for a second open cache
 * with the same name.
 * @example
 * import { prometheusMetrics } from '@cattlegrid/metrics/prometheus'
 * import { register } from 'prom-client'
 *
 * const stop = prometheusMetrics(cache)
 * app.get('/metrics', async (req, res) => res.type(register.contentType).send(await register.metrics()))
 */
export function prometheusMetrics(cache: Cache, options?: PrometheusOptions): () => void {
  requireCache('prometheusMetrics', cache)
  const { register = globalRegistry, http = true } = checkOptions('prometheusMetrics', options, rules)
  const families = registeredFamilies(register)
  families.requireFree(cache.name)
  const observation = new CacheObservation(cache.root, {
    http,
    record: (id, labels, seconds) => families.observe(cache.name, id, labels, seconds),
  })
  families.add(observation)
  return () => {
    observation.stop()
    families.remove(observation)
  }
}

function registeredFamilies(register: Registry): Families {
  const known = familiesOf.get(register)
  if (known?.registered === true) return known
  const families = new Families(register)
  familiesOf.set(register, families)
  return families
}
