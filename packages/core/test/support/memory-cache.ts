import { type Cache, createCache, memoryStore } from '@cattlegrid/core'
import { createManualRuntime, type ManualRuntime } from '@cattlegrid/testkit'

/** A cache in memory, with a ttl of a minute, and the clock that it goes by. */
export function memoryCache(): { readonly runtime: ManualRuntime; readonly cache: Cache } {
  const runtime = createManualRuntime()
  return { runtime, cache: createCache({ runtime, ttl: '1m', store: memoryStore({ runtime }) }) }
}

/** A loader that is not to be called. */
export function never(): never {
  throw new Error('The loader was called')
}
