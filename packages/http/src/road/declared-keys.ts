import type { Cache } from '@cattlegrid/core'
import { BoundedMap } from '@cattlegrid/core/extend'
import { perCache } from '../route/per-cache.ts'

/** Keys remembered for one cache, at least. */
const KEYS_KEPT = 1000

/**
 * The keys in app mode for which a response could have been stored, if it had been that of the key's own URL:
 * a subrequest for that URL may bring one.
 */
export const declaredKeysOf: (cache: Cache) => BoundedMap<string, string> = perCache(
  'declared-keys/1',
  () => new BoundedMap<string, string>(KEYS_KEPT),
)
