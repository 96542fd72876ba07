import type { FreshnessPolicy } from './policy.ts'

/** Fresh, then the two stale windows, both counted from the end of freshness (RFC 5861). A window includes its first moment, not its last. */
export const windowFreshness: FreshnessPolicy = {
  judge(entry, now, strictness) {
    if (now - entry.bornAt > strictness.maxAge) return 'gone'
    const staleFor = now - entry.freshUntil
    // The moment of an expiry by hand may lie ahead of the coarse clock that judges it.
    if (staleFor < 0 && !entry.expired) return 'fresh'
    if (strictness.allowStaleWhileRevalidate && staleFor < entry.staleWhileRevalidate) return 'stale'
    return strictness.allowStaleIfError && staleFor < entry.staleIfError ? 'if-error' : 'gone'
  },
}
