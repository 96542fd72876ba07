import { AsyncResource } from 'node:async_hooks'
import { type Cache, InvalidOptionError } from '@cattlegrid/core'
import { type Runtime, checkValue, processWide, rule } from '@cattlegrid/core/extend'
import { VariantCount } from '../response/vary.ts'
import { KeyNotes } from './key-notes.ts'

/** The number of URLs whose variants a process counts, at least. */
const RECORDS_KEPT = 10_000

/** The handler of an observed request, for whose response other requests would have waited. */
export interface ObservedRun {
  /** Why no other request would have got the response; undefined: they would have got it. */
  refused: string | undefined
}

/**
 * The state that the HTTP layer keeps with a cache: all adapters of the process, all views of the cache, and
 * all copies of this package share it.
 */
interface HttpState {
  /** The async context of the set-up: a refresh must not run in the context of the client that caused it. */
  readonly scope: AsyncResource
  readonly variants: VariantCount
  readonly notes: KeyNotes
  /** The keys that a client's own request is refreshing. */
  readonly inlineRefreshes: Set<string>
  /** By the keys of their traces. */
  readonly observedRuns: Map<string, ObservedRun>
  /** The places of an app that cache in the cache. */
  readonly declarations: { count: number }
}

/** A cache, or a view of one, with the state that the HTTP layer keeps with it. */
export interface HttpCache extends HttpState {
  readonly cache: Cache
  readonly runtime: Runtime
}

/** Change the name with the shape of the state. */
const states = processWide('http-state/2', () => new WeakMap<Cache, HttpState>())

function stateOf({ root, runtime }: Cache): HttpState {
  let state = states.get(root)
  if (state === undefined) {
    state = {
      scope: new AsyncResource('cattlegrid.refresh'),
      variants: new VariantCount(RECORDS_KEPT),
      notes: new KeyNotes(runtime),
      inlineRefreshes: new Set(),
      observedRuns: new Map(),
      declarations: { count: 0 },
    }
    states.set(root, state)
  }
  return state
}

/**
 * Numbers a place that caches, in the order of declaration: it is the same in every process that declares the
 * same places.
 *
 * @example
 * import { compileRoute, httpCache, nextDeclaration } from '@cattlegrid/http'
 *
 * const http = httpCache(cache)
 * const route = compileRoute('cached', http, undefined, { ttl: '30s' })
 * const place = nextDeclaration(http)
 */
export function nextDeclaration({ declarations }: HttpCache): number {
  declarations.count += 1
  return declarations.count
}

const OPEN =
  'a cache that is open: createCache() for each app, or close: false where an app must not close the cache that it shares'

const cacheRule = rule.object<Cache>('a cache made by createCache()', 'with', 'getOrSet')

/**
 * Makes of a cache what every route that it serves shares. Two calls with one cache share it, too.
 *
 * @example
 * import { httpCache } from '@cattlegrid/http'
 *
 * const http = httpCache(cache)
 * @throws InvalidOptionError for anything but a cache, and for a cache that is closed: every request would
 * bypass it.
 */
export function httpCache(cache: Cache): HttpCache {
  checkValue('cache', cache, cacheRule)
  if (cache.closed) throw new InvalidOptionError('cache', undefined, OPEN, { is: 'is closed' })
  return { cache, runtime: cache.runtime, ...stateOf(cache) }
}
