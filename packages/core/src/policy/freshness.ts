import type { Entry } from '../entry.ts'
import type { FreshnessPolicy, Strictness, Verdict } from './policy.ts'

/** Fresh, then the two stale windows, both counted from the end of freshness (RFC 5861). A window includes its first moment, not its last. */
export const windowFreshness: FreshnessPolicy = {
  judge(entry, now, strictness) {
    if (now - entry.committedAt > strictness.maxAge) return 'gone'
    // `expired`, too: the moment of an expiry by hand may lie ahead of the coarse clock.
    return now < entry.freshUntil && !entry.expired ? 'fresh' : judgeStale(entry, now, strictness)
  },
}

function judgeStale(entry: Entry, now: number, strictness: Strictness): Verdict {
  const staleFor = now - entry.freshUntil
  if (strictness.allowStaleWhileRevalidate && staleFor < entry.staleWhileRevalidate) return 'stale'
  return strictness.allowStaleIfError && staleFor < entry.staleIfError ? 'if-error' : 'gone'
}
