/** What a lock for a cache must withstand, in the order of the closing table. */
export const PROPERTY_NAMES = [
  'liveness after crash',
  'losers do not extend',
  'two concurrent callers',
  'foreign release',
  'foreign renew',
  'unique token',
  'clock skew',
  'late write',
  'write after invalidation',
  'double check',
  'lock evicted',
  'server restarted',
  'failover',
] as const

export type PropertyName = (typeof PROPERTY_NAMES)[number]
