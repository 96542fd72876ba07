import type { Cache } from '@cattlegrid/core'

/**
 * The cache, or a function that makes it. The function is called at the first use in a running server, and
 * never during `next build`, which loads the file of the handler, too.
 */
export type HandedCache = Cache | (() => Cache)

/** True while Next builds: nothing is shared then. */
export function isBuild(): boolean {
  return process.env['NEXT_PHASE'] === 'phase-production-build'
}

/** Makes `T` of the cache at the first call. */
export function onFirstUse<T>(cache: HandedCache, make: (cache: Cache) => T): () => T {
  let made: { readonly of: T } | undefined
  return () => (made ??= { of: make(typeof cache === 'function' ? cache() : cache) }).of
}
