import { AsyncResource } from 'node:async_hooks'
import { type Cache, InvalidOptionError, type Runtime } from '@cattlegrid/core'
import { VariantCount } from '../response/vary.ts'

/** As many URLs with variants as are counted in one process. */
const MAX_RECORDS = 10_000

/** A cache as the HTTP layer uses it; made once, at set-up. */
export interface HttpCache {
  readonly cache: Cache
  readonly runtime: Runtime
  /** The async context of the set-up: a refresh must not run inside the context of the client that happened to start it. */
  readonly scope: AsyncResource
  readonly variants: VariantCount
  /** The keys that some client's own request refreshes at this moment. */
  readonly inlineRefreshes: Set<string>
}

export function httpCache(cache: Cache): HttpCache {
  if (typeof ((cache ?? {}) as Partial<Cache>).with !== 'function')
    throw new InvalidOptionError('cache', cache, 'a cache made by createCache()')
  const scope = new AsyncResource('cattlegrid.refresh')
  return { cache, runtime: cache.runtime, scope, variants: new VariantCount(MAX_RECORDS), inlineRefreshes: new Set() }
}
