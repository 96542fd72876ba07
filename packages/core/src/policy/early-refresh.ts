import { BoundedMap } from '../maps/bounded-map.ts'
import type { Entry, Version } from '../entry.ts'
import type { EarlyRefresh, EarlyRefreshPolicy } from './policy.ts'

interface Draw {
  readonly version: Version
  /** `-ln(random)`, not scaled yet. */
  readonly value: number
}

/**
 * Number of keys that keep their draw, and of keys that keep the version of their last attempt. A key that
 * draws again is refreshed earlier on average.
 */
const KEYS_KEPT = 5_000

/**
 * The greatest draw, since a random number has 53 bits: further than that from its expiry, an entry needs
 * no draw.
 */
const GREATEST_DRAW = 53 * Math.LN2

/**
 * Refreshes an entry `-ln(random) · beta · load time` before its expiry (XFetch: Vattani, Chierichetti,
 * Lowenstein, "Optimal Probabilistic Cache Stampede Prevention", VLDB 2015). Each process draws the moment
 * once for each entry: drawn at every hit, it would come the earlier, the more readers there are.
 */
export function earlyRefresh(random: () => number): EarlyRefreshPolicy {
  const draws = new BoundedMap<string, Draw>(KEYS_KEPT)
  const attempts = new BoundedMap<string, Version>(KEYS_KEPT)
  const drawFor = (key: string, { version }: Entry): number => {
    const known = draws.get(key)
    if (known !== undefined && known.version === version) return known.value
    const value = -Math.log(1 - random())
    draws.set(key, { version, value })
    return value
  }
  const isDue = (key: string, entry: Entry, left: number, early: EarlyRefresh): boolean => {
    if ('before' in early) return left <= timeBefore(early.before, entry)
    const scale = early.beta * entry.loadTime
    return left <= GREATEST_DRAW * scale && left <= drawFor(key, entry) * scale
  }
  return {
    due(key, entry, now, early) {
      const left = entry.freshUntil - now
      return isDue(key, entry, left, early) && attempts.get(key) !== entry.version
    },
    noteAttempt(key, { version }) {
      attempts.set(key, version)
    },
    withdrawAttempt(key, { version }) {
      if (attempts.get(key) === version) attempts.delete(key)
    },
  }
}

/**
 * `before`, or half of the entry's ttl where that is not longer: jitter, `set` or `load.keep` has shortened
 * it. Otherwise each entry would be due at its commit, and every load would be followed by another one.
 */
function timeBefore(before: number, { committedAt, freshUntil }: Entry): number {
  const ttl = freshUntil - committedAt
  return before < ttl ? before : ttl / 2
}
