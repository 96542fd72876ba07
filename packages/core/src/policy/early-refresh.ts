import { BoundedMap } from '../bounded-map.ts'
import type { Entry, Version } from '../entry.ts'
import type { EarlyRefreshPolicy } from './policy.ts'

interface Draw {
  readonly version: Version
  /** `-ln(random)`, not scaled yet. */
  readonly value: number
}

/** At least this many keys keep their draw. A key that draws again is refreshed earlier on average. */
const KEYS_KEPT = 5_000

/** The greatest draw, since a random number has 53 bits: further than that from its expiry, an entry needs no draw. */
const GREATEST_DRAW = 53 * Math.LN2

/**
 * Refreshes an entry `-ln(random) · beta · load time` before its expiry (XFetch: Vattani, Chierichetti, Lowenstein, "Optimal
 * Probabilistic Cache Stampede Prevention", VLDB 2015). Each process draws the moment once for each entry: drawn at every hit,
 * it would come the earlier, the more readers there are.
 */
export function earlyRefresh(random: () => number): EarlyRefreshPolicy {
  const draws = new BoundedMap<string, Draw>(KEYS_KEPT)
  const drawFor = (key: string, { version }: Entry): number => {
    const known = draws.get(key)
    if (known !== undefined && known.version === version) return known.value
    const value = -Math.log(1 - random())
    draws.set(key, { version, value })
    return value
  }
  return {
    due(key, entry, now, early) {
      const left = entry.freshUntil - now
      if ('before' in early) return left <= early.before
      const scale = early.beta * entry.loadTime
      return left <= GREATEST_DRAW * scale && left <= drawFor(key, entry) * scale
    },
  }
}
