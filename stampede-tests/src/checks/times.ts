/** Longer than a ttl of one second, also for a library that counts in whole seconds, ms. */
export const PAST_TTL = 2100
export const SECOND = { ttl: 1000 }
export const STALE = { ttl: 1000, stale: 30_000 }
