import { AsyncResource } from 'node:async_hooks'
import { type Cache, InvalidOptionError, type Runtime } from '@cattlegrid/core'
import { VariantCount } from '../response/vary.ts'

/** The URLs with variants that a process counts. */
const MAX_RECORDS = 10_000

/** A cache with what the HTTP layer keeps beside it; made once, at set-up. */
export interface HttpCache {
  readonly cache: Cache
  readonly runtime: Runtime
  /** The async context of the set-up: a refresh must not run inside the context of the client that started it. */
  readonly scope: AsyncResource
  readonly variants: VariantCount
  /** The keys that a client's own request is refreshing. */
  readonly inlineRefreshes: Set<string>
}

export function httpCache(cache: Cache): HttpCache {
  if (typeof ((cache ?? {}) as Partial<Cache>).with !== 'function')
    throw new InvalidOptionError('cache', cache, 'a cache made by createCache()')
  const scope = new AsyncResource('cattlegrid.refresh')
  return { cache, runtime: cache.runtime, scope, variants: new VariantCount(MAX_RECORDS), inlineRefreshes: new Set() }
}
