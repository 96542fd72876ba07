import type { IncomingHttpHeaders } from 'node:http'
import { varyRecordTtl } from '../response/keep-response.ts'
import { type LookupKeys, assignKey } from '../road/storage-key.ts'
import { type RecordedResponse, type Stored, storedCodec } from '../response/recorded-response.ts'
import type { Lifetime } from '../response/lifetime.ts'
import type { Route } from '../route/route.ts'

/** Stands for a response that would have been stored, without any of its fields or bytes. */
function traceOf(initialAge: number): RecordedResponse {
  return { status: 204, fields: {}, removed: [], body: Buffer.alloc(0), initialAge }
}

/** The key of the traces of a URL. No route in `mode: 'serve'` reads it. */
export function traceKeyOf(key: string): string {
  return `observed:${key}`
}

/**
 * Stores a trace as the response would have been stored: for its lifetime, with its tags, and as a variant
 * where `vary` has names.
 */
export async function storeTrace(
  route: Pick<Route, 'cache' | 'keyRule' | 'runtime' | 'variants' | 'maxVariants'>,
  lookup: LookupKeys,
  headers: IncomingHttpHeaders,
  vary: readonly string[],
  { ttl, staleWhileRevalidate, staleIfError, tags }: Lifetime,
  initialAge: number,
): Promise<void> {
  const { cache } = route
  const storage = await assignKey(route, lookup, vary, headers)
  if (storage === undefined) return
  const windows = { ttl, staleWhileRevalidate, staleIfError: 0, tags, codec: storedCodec }
  await cache.set<Stored>(storage.key, traceOf(initialAge), windows)
  if (storage.recordToKeep === undefined) return
  const recordTtl = varyRecordTtl({ ttl, staleWhileRevalidate, staleIfError })
  await cache.set<Stored>(lookup.urlKey, storage.recordToKeep, { ttl: recordTtl, codec: storedCodec, tags })
}
