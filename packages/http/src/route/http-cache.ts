import { AsyncResource } from 'node:async_hooks'
import { type Cache, InvalidOptionError, type Runtime } from '@cattlegrid/core'
import { VariantCount } from '../response/vary.ts'

/** The URLs whose variants a process counts, at least. */
const RECORDS_KEPT = 10_000

/** A cache and the state that the HTTP layer keeps with it; made once, at set-up. */
export interface HttpCache {
  readonly cache: Cache
  readonly runtime: Runtime
  /** The async context of the set-up: a refresh must not run in the context of the client that caused it. */
  readonly scope: AsyncResource
  readonly variants: VariantCount
  /** The keys that a client's own request is refreshing. */
  readonly inlineRefreshes: Set<string>
}

/** How many places of an app cache in each cache. */
const declarations = new WeakMap<Cache, number>()

/** Numbers a place that caches, in the order of declaration: it is the same in every process that declares the same places. */
export function nextDeclaration({ cache }: HttpCache): number {
  const number = (declarations.get(cache) ?? 0) + 1
  declarations.set(cache, number)
  return number
}

export function httpCache(cache: Cache): HttpCache {
  if (typeof ((cache ?? {}) as Partial<Cache>).with !== 'function')
    throw new InvalidOptionError('cache', cache, 'a cache made by createCache()')
  const scope = new AsyncResource('cattlegrid.refresh')
  return { cache, runtime: cache.runtime, scope, variants: new VariantCount(RECORDS_KEPT), inlineRefreshes: new Set() }
}
