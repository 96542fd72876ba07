import type { EngineServices } from '../flight/engine-services.ts'
import { awaitedCall, newAwaiters } from '../flight/awaited.ts'
import type { PermitSource } from '../flight/permits.ts'
import { ABSENT } from '../load.ts'
import { valueOf } from '../lookup/served.ts'
import type { Lookups } from '../lookup/lookup.ts'
import type { Settings } from '../options/settings.ts'
import { Batch } from './batch.ts'
import type { ManyLoader } from './many-loader.ts'

/**
 * Number of keys that are looked up at once. With more, the first would hold their leases while the last ask
 * for theirs, and the renewals would cost more than the loads.
 */
const MOST_AT_ONCE = 2000

/** The arguments of one `getOrSetMany`. `keys` pairs each requested key with its stored key. */
export interface ManyCall {
  readonly keys: readonly (readonly [string, string])[]
  readonly loader: ManyLoader<unknown>
  readonly settings: Settings
  readonly permits: PermitSource
}

/**
 * Looks up many keys, each as `getOrSet` does. The keys that lead share loader calls. An error ends it with
 * the part of its key.
 *
 * @throws the error of the first key, in the order of `keys`, that has one.
 */
export function lookUpMany(
  { keys, loader, settings, permits }: ManyCall,
  services: EngineServices,
  lookups: Lookups,
): Promise<Map<string, unknown>> {
  const values = new Map<string, unknown>()
  const others = keys.filter(([requestedKey, storedKey]) => {
    const entry = lookups.peek(storedKey, settings)
    if (entry !== undefined) lookups.noteHit(storedKey, entry)
    // Also for a key that has no value yet: it takes its place in the order of the Map.
    values.set(requestedKey, entry?.value)
    return entry === undefined
  })
  if (others.length === 0) return Promise.resolve(values)
  const awaiters = newAwaiters()
  const lookUpPart = (part: ManyCall['keys']): Promise<readonly PromiseSettledResult<unknown>[]> => {
    const requestedKeys = part.map(([requestedKey]) => requestedKey)
    const batch = new Batch(requestedKeys, loader, services, permits, awaiters)
    const lookUp = async ([requestedKey, storedKey]: readonly [string, string]): Promise<unknown> => {
      const call = { storedKey, requestedKey, loader: batch.loaderOf(requestedKey), settings, permits: batch, batch }
      return await lookups.run(call, valueOf).finally(() => batch.onRead(requestedKey))
    }
    // In one turn, so that the client of a shared store sends all reads in one write.
    return Promise.allSettled(part.map(lookUp))
  }
  return awaitedCall(inParts(others, values, lookUpPart), awaiters)
}

/**
 * Looks up one part of the keys after the other: the next one while the commits of the last are under way.
 */
async function inParts(
  keys: ManyCall['keys'],
  values: Map<string, unknown>,
  lookUpPart: (part: ManyCall['keys']) => Promise<readonly PromiseSettledResult<unknown>[]>,
): Promise<Map<string, unknown>> {
  for (let from = 0; from < keys.length; from += MOST_AT_ONCE) {
    const part = keys.slice(from, from + MOST_AT_ONCE)
    addResults(values, part, await lookUpPart(part))
  }
  return values
}

/** @throws the error of the first key that has one. */
function addResults(
  values: Map<string, unknown>,
  keys: ManyCall['keys'],
  results: readonly PromiseSettledResult<unknown>[],
): void {
  for (const [index, result] of results.entries()) {
    const key = keys[index]?.[0] ?? ''
    if (result.status === 'rejected') throw result.reason
    if (result.value === ABSENT) values.delete(key)
    else values.set(key, result.value)
  }
}
