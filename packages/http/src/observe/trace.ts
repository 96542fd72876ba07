import type { IncomingHttpHeaders } from 'node:http'
import { varyRecordTtl } from '../lookup/loaded-response.ts'
import { type RecordedResponse, type Stored, storedCodec } from '../response/recorded-response.ts'
import type { Lifetime } from '../response/lifetime.ts'
import { variantKey, type VaryRecord } from '../response/vary.ts'
import type { Route } from '../route/route.ts'

/** Stands for a response that would have been stored, without any of its fields or bytes. */
function traceOf(initialAge: number): RecordedResponse {
  return { status: 204, fields: {}, removed: [], body: Buffer.alloc(0), initialAge }
}

/** The key of the traces of a URL. No route in `mode: 'serve'` reads it. */
export function traceKeyOf(key: string): string {
  return `observed:${key}`
}

/** Where the lookup of a request ended: at the key of its URL, or, if a record of variants is there, at the key of its variant. */
export interface TraceLookup {
  readonly base: string
  readonly record: VaryRecord | undefined
  readonly key: string
}

/** Stores a trace as the response would have been stored: for its lifetime, with its tags, and as a variant where `vary` has names. */
export async function storeTrace(
  {
    cache,
    keyed,
    runtime,
    variants,
    maxVariants,
  }: Pick<Route, 'cache' | 'keyed' | 'runtime' | 'variants' | 'maxVariants'>,
  { base, record, key }: TraceLookup,
  headers: IncomingHttpHeaders,
  vary: readonly string[],
  { ttl, staleWhileRevalidate, staleIfError, tags }: Lifetime,
  initialAge: number,
): Promise<void> {
  const windows = { ttl, staleWhileRevalidate, staleIfError: 0, tags, codec: storedCodec }
  const names = vary.filter((name) => !keyed.headers.includes(name))
  if (names.every((name) => record?.vary.includes(name) === true))
    return cache.set<Stored>(key, traceOf(initialAge), windows)
  const newRecord = { vary: names, id: runtime.token() }
  const variant = variantKey(base, newRecord, headers)
  const oldest = variants.add(newRecord, variant, maxVariants)
  if (oldest !== undefined) await cache.delete(oldest)
  await cache.set<Stored>(variant, traceOf(initialAge), windows)
  const recordTtl = varyRecordTtl({ ttl, staleWhileRevalidate, staleIfError })
  await cache.set<Stored>(base, newRecord, { ttl: recordTtl, codec: storedCodec, tags })
}
