import { LRUCache } from 'lru-cache'
import type { Entry, Version } from '../entry.ts'
import type { EarlyRefresh, EarlyRefreshPolicy } from './policy.ts'

interface Drawn {
  readonly version: Version
  readonly early: EarlyRefresh
  /** How long before the end of freshness, ms. */
  readonly lead: number
}

/** How many keys keep their moment; the others draw again, which may only make them earlier. */
const MOST_KEYS = 10_000

/**
 * Refreshes ahead of the expiry: `-ln(random) · beta · load time` before it (XFetch: Vattani, Chierichetti, Lowenstein, "Optimal
 * Probabilistic Cache Stampede Prevention", VLDB 2015). The moment is drawn once per copy and process: drawn at every hit, it would come
 * the earlier the more readers there are.
 */
export function earlyRefresh(random: () => number): EarlyRefreshPolicy {
  const moments = new LRUCache<string, Drawn>({ max: MOST_KEYS })
  const draw = (entry: Entry, early: EarlyRefresh): number =>
    'before' in early ? early.before : -Math.log(1 - random()) * early.beta * entry.loadTime
  return {
    due(key, entry, now, early) {
      let drawn = moments.get(key)
      if (drawn === undefined || drawn.version !== entry.version || !same(drawn.early, early)) {
        drawn = { version: entry.version, early, lead: draw(entry, early) }
        moments.set(key, drawn)
      }
      return now >= entry.freshUntil - drawn.lead
    },
  }
}

function same(one: EarlyRefresh, other: EarlyRefresh): boolean {
  return 'before' in one ? 'before' in other && one.before === other.before : 'beta' in other && one.beta === other.beta
}
