import type { IncomingHttpHeaders } from 'node:http'
import { variantKey, type VaryRecord } from '../response/vary.ts'
import type { Route } from '../route/route.ts'

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
