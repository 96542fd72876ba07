import type { Load } from '@cattlegrid/core'
import type { IncomingHttpHeaders } from 'node:http'
import { NoSharedResult } from '../response/errors.ts'
import { keepResponse, type StorableResult, varyRecordTtl } from './load-result.ts'
import type { RecordedResponse, Stored } from '../response/recorded-response.ts'
import type { Route } from '../route/route.ts'
import { variantKey, type VaryRecord } from '../response/vary.ts'

/**
 * Commits the response as the first variant of a new record, and returns the record, for the URL's own key. The variant has a lease of its own, and
 * is committed before the record that makes it reachable.
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
  const record = { vary: names, id: runtime.token() }
  const key = variantKey(urlKey, record, headers)
  countVariant(route, record, key)
  await cache.lookup<Stored, never>(key, (inner) => keepResponse(inner, result, revalidate), callOptions)
  load.keep({ ttl: varyRecordTtl(lifetime), staleWhileRevalidate: 0, staleIfError: 0, tags: lifetime.tags })
  return record
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
