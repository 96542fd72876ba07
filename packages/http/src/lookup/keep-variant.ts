import type { Load } from '@cattlegrid/core'
import type { IncomingHttpHeaders } from 'node:http'
import { NoSharedResult } from '../response/errors.ts'
import { keepResponse, keepVaryRecord, type StorableResult } from './loaded-response.ts'
import { isVaryRecord, type RecordedResponse, type Stored } from '../response/recorded-response.ts'
import type { Route } from '../route/route.ts'
import { variantKey, type VaryRecord } from '../response/vary.ts'

/**
 * Commits the response as the first variant of a record, and returns the record, for the URL's own key. The variant has a lease of its own, and is
 * committed before the record that makes it reachable. A stale record, after a soft purge, keeps its id where the response varies by the same fields: its
 * other variants stay reachable, and are refreshed by their own requests.
 *
 * @param names the request fields that select the response.
 * @param headers the request fields that its handler saw.
 */
export async function keepFirstVariant<Req, Res>(
  route: Route<Req, Res>,
  urlKey: string,
  load: Load<never>,
  result: StorableResult,
  names: readonly string[],
  headers: IncomingHttpHeaders,
): Promise<VaryRecord> {
  const { cache, callOptions, runtime, revalidate } = route
  const { lifetime } = result
  const known = staleRecordOf(load, names)
  const record = known ?? { vary: names, id: runtime.token() }
  const key = variantKey(urlKey, record, headers)
  countVariant(route, record, key)
  const keep = (inner: Load<never>): Stored => keepResponse(inner, result, revalidate)
  // The variant of a known record may be there, from before the purge.
  await (known === undefined ? cache.lookup(key, keep, callOptions) : cache.refresh(key, keep, callOptions))
  keepVaryRecord(load, lifetime)
  return record
}

/** The record that the load replaces, if it names the same fields. */
function staleRecordOf(load: Load<never>, names: readonly string[]): VaryRecord | undefined {
  const stale = load.stale?.value as Stored | undefined
  return stale !== undefined && isVaryRecord(stale) && stale.vary.join() === names.join() ? stale : undefined
}

/**
 * Keeps the response as a variant of a record. Where it is selected by a field that the record does not name, the record is deleted: the next
 * request learns it anew.
 *
 * @throws NoSharedResult where the record was deleted.
 */
export async function keepVariant<Req, Res>(
  route: Route<Req, Res>,
  urlKey: string,
  load: Load<never>,
  result: StorableResult,
  names: readonly string[],
  record: VaryRecord,
): Promise<RecordedResponse> {
  if (names.some((name) => !record.vary.includes(name))) {
    await route.cache.delete(urlKey).catch(() => undefined)
    throw new NoSharedResult('it varies by a field that its record does not name')
  }
  countVariant(route, record, load.key)
  return keepResponse(load, result, route.revalidate)
}

function countVariant(
  { variants, maxVariants, cache }: Pick<Route, 'variants' | 'maxVariants' | 'cache'>,
  record: VaryRecord,
  key: string,
): void {
  const oldest = variants.add(record, key, maxVariants)
  if (oldest !== undefined) cache.delete(oldest).catch(() => undefined)
}
