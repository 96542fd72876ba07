import type { Load } from '@cattlegrid/core'
import type { IncomingHttpHeaders } from 'node:http'
import { NoSharedResult } from '../response/errors.ts'
import { keepResponse, keepVaryRecord } from '../response/keep-response.ts'
import type { StorableResult } from './loaded-response.ts'
import { isVaryRecord, type Stored } from '../response/recorded-response.ts'
import type { Route } from '../route/route.ts'
import { variantKey, type VaryRecord } from '../response/vary.ts'

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

/**
 * Where the lookup of a request ended: at the key of its URL, or, if a record of variants is there, at the
 * key of its variant.
 */
export interface LookupKeys {
  readonly urlKey: string
  readonly record: VaryRecord | undefined
  readonly key: string
}

/**
 * The key at which a response is kept. `recordToKeep`: the record of variants to keep at the key of the URL;
 * undefined: none.
 */
export interface StorageKey {
  readonly key: string
  readonly recordToKeep: VaryRecord | undefined
}

/**
 * Chooses the key of a response by the request fields that select it, and counts it among the variants of its
 * URL. Where it is selected by a field that the record of the URL does not name, it has no key: the record is
 * deleted, and the next request learns it anew.
 *
 * @param vary the names in its `Vary`; those that each key of the route holds do not select.
 * @param headers the request fields that its handler saw.
 * @param stale the record that the response replaces at the key of the URL: where it names the same fields,
 * it keeps its id, and its variants.
 */
export async function assignKey(
  route: Pick<Route, 'cache' | 'keyRule' | 'runtime' | 'variants' | 'maxVariants'>,
  { urlKey, record, key }: LookupKeys,
  vary: readonly string[],
  headers: IncomingHttpHeaders,
  stale?: VaryRecord,
): Promise<StorageKey | undefined> {
  const { cache, keyRule, runtime } = route
  const names = vary.filter((name) => !keyRule.headers.includes(name))
  if (record === undefined) {
    if (names.length === 0) return { key, recordToKeep: undefined }
    const first = stale?.vary.join() === names.join() ? stale : { vary: names, id: runtime.token() }
    const variant = variantKey(urlKey, first, headers)
    countVariant(route, first, variant)
    return { key: variant, recordToKeep: first }
  }
  if (names.some((name) => !record.vary.includes(name))) {
    await cache.delete(urlKey).catch(() => undefined)
    return undefined
  }
  countVariant(route, record, key)
  return { key, recordToKeep: undefined }
}

function countVariant(
  { variants, maxVariants, cache }: Pick<Route, 'variants' | 'maxVariants' | 'cache'>,
  record: VaryRecord,
  key: string,
): void {
  const oldest = variants.add(record, key, maxVariants)
  if (oldest !== undefined) cache.delete(oldest).catch(() => undefined)
}
