import { LRUCache } from 'lru-cache'
import type { Entry, Version } from '../entry.ts'
import type { EarlyRefreshPolicy } from './policy.ts'

interface Drawn {
  readonly version: Version
  /** `-ln(random)`, whatever it is scaled by. */
  readonly draw: number
}

/** How many keys keep their moment; the others draw again, which may only make them earlier. */
const MOST_KEYS = 10_000

/** No random number of 53 bits is so small that its logarithm is greater: before that nothing needs to be drawn. */
const LONGEST_DRAW = 53 * Math.LN2

/**
 * Refreshes ahead of the expiry: `-ln(random) · beta · load time` before it (XFetch: Vattani, Chierichetti, Lowenstein, "Optimal
 * Probabilistic Cache Stampede Prevention", VLDB 2015). The moment is drawn once per copy and process: drawn at every hit, it would come
 * the earlier the more readers there are.
 */
export function earlyRefresh(random: () => number): EarlyRefreshPolicy {
  const moments = new LRUCache<string, Drawn>({ max: MOST_KEYS })
  const drawn = (key: string, { version }: Entry): number => {
    const known = moments.get(key)
    if (known !== undefined && known.version === version) return known.draw
    const draw = -Math.log(1 - random())
    moments.set(key, { version, draw })
    return draw
  }
  return {
    due(key, entry, now, early) {
      const left = entry.freshUntil - now
      if ('before' in early) return left <= early.before
      const scale = early.beta * entry.loadTime
      return left <= LONGEST_DRAW * scale && left <= drawn(key, entry) * scale
    },
  }
}
