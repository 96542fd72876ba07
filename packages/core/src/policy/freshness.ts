import type { FreshnessPolicy } from './policy.ts'

/** Fresh, then the two stale windows, both counted from the end of freshness (RFC 5861). A window includes its first moment, not its last. */
export const windowFreshness: FreshnessPolicy = {
  judge(entry, now, strictness) {
    if (strictness.maxAge !== Infinity && now - entry.bornAt > strictness.maxAge) return 'gone'
    const staleFor = now - entry.freshUntil
    if (staleFor < 0) return 'fresh'
    if (strictness.allowStaleWhileRevalidate && staleFor < entry.staleWhileRevalidate) return 'stale'
    return strictness.allowStaleIfError && staleFor < entry.staleIfError ? 'if-error' : 'gone'
  },
}
