import type { Load } from '@cattlegrid/core'
import type { IncomingHttpHeaders } from 'node:http'
import { NoSharedResult } from '../response/errors.ts'
import { keepResponse, keepVaryRecord } from '../response/keep-response.ts'
import type { StorableResult } from './loaded-response.ts'
import { isVaryRecord, type Stored } from '../response/recorded-response.ts'
import { assignKey } from './storage-key.ts'
import type { Route } from '../route/route.ts'
import type { VaryRecord } from '../response/vary.ts'

/**
 * Gives a load its lifetime, and returns the value that it commits: the response, or, at the URL's own key,
 * the record of a response that varies; then the variant is committed first, under a lease of its own. A
 * stale record (soft purge) keeps its id if the response varies by the same fields: its other variants stay
 * reachable, and their own requests refresh them.
 *
 * @param record the record that led to the key of the load; undefined: the key is the URL's own.
 * @param requestFields those that the handler saw.
 * @throws NoSharedResult where the response is selected by a field that the record does not name.
 */
export async function keepAtKey(
  route: Route,
  urlKey: string,
  load: Load<never>,
  result: StorableResult,
  record: VaryRecord | undefined,
  requestFields: IncomingHttpHeaders,
): Promise<Stored> {
  const { cache, callOptions, revalidate } = route
  const stale = staleRecordOf(load)
  const storage = await assignKey(route, { urlKey, record, key: load.key }, result.vary, requestFields, stale)
  if (storage === undefined) throw new NoSharedResult('the record lacks a name in `Vary`')
  if (storage.recordToKeep === undefined) return keepResponse(load, result, revalidate)
  const keep = (inner: Load<never>): Stored => keepResponse(inner, result, revalidate)
  // The variant of a known record may be there, from before the purge.
  await (storage.recordToKeep === stale
    ? cache.refresh(storage.key, keep, callOptions)
    : cache.lookup(storage.key, keep, callOptions))
  keepVaryRecord(load, result.lifetime)
  return storage.recordToKeep
}

/** The record that the load replaces. */
function staleRecordOf(load: Load<never>): VaryRecord | undefined {
  const stale = load.stale?.value as Stored | undefined
  return stale !== undefined && isVaryRecord(stale) ? stale : undefined
}
