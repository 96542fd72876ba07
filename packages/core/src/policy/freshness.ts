import type { Entry } from '../entry.ts'
import type { FreshnessPolicy, ServeLimits, Verdict } from './policy.ts'

/**
 * Fresh, then the two stale windows, both counted from the end of freshness (RFC 5861). A window includes its
 * first moment, not its last.
 */
export const windowFreshness: FreshnessPolicy = {
  judge(entry, now, limits) {
    if (now - entry.committedAt > limits.maxAge) return 'gone'
    // `expired` is tested too: `expire()` may set a `freshUntil` that is ahead of the coarse clock.
    return now < entry.freshUntil && !entry.expired ? 'fresh' : judgeStale(entry, now, limits)
  },
}

function judgeStale(entry: Entry, now: number, limits: ServeLimits): Verdict {
  const staleFor = now - entry.freshUntil
  if (limits.allowStaleWhileRevalidate && staleFor < entry.staleWhileRevalidate) return 'stale'
  return limits.allowStaleIfError && staleFor < entry.staleIfError ? 'if-error' : 'gone'
}
