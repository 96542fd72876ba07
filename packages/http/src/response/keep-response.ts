import type { Load } from '@cattlegrid/core'
import { LONGEST_TTL, LONGEST_WINDOW } from '@cattlegrid/core/extend'
import type { Lifetime } from './lifetime.ts'
import type { RecordedResponse } from './recorded-response.ts'
import { retained } from './revalidate.ts'

/** Gives the load the lifetime of the response, and returns the response to store. */
export function keepResponse(
  load: Load<never>,
  { response, lifetime }: { readonly response: RecordedResponse; readonly lifetime: Lifetime },
  revalidate: boolean,
): RecordedResponse {
  const extended = revalidate ? retained(response, lifetime) : undefined
  if (extended === undefined) {
    keepFor(load, lifetime)
    return response
  }
  keepFor(load, { ...lifetime, staleIfError: extended.staleIfError })
  return { ...response, usableFor: extended.usableFor }
}

/** A record of variants lives for at least 1 day, so that it outlives them. */
const MIN_RECORD_TTL = 86_400_000

/** The ttl of a record of variants, ms: longer than the life of any of them. */
export function varyRecordTtl({ ttl, staleWhileRevalidate, staleIfError }: Lifetime): number {
  const longerThanAll = 2 * (ttl + Math.max(staleWhileRevalidate, staleIfError))
  return Math.min(Math.max(MIN_RECORD_TTL, longerThanAll), LONGEST_TTL)
}

/**
 * Gives the load the lifetime of a record of variants. After a soft purge it is stale for as long as
 * they are.
 */
export function keepVaryRecord(load: Load<never>, lifetime: Lifetime): void {
  const { staleWhileRevalidate, staleIfError, tags } = lifetime
  const staleFor = Math.max(staleWhileRevalidate, staleIfError)
  keepFor(load, { ttl: varyRecordTtl(lifetime), staleWhileRevalidate: staleFor, staleIfError: 0, tags })
}

function keepFor(load: Load<never>, { ttl, staleWhileRevalidate, staleIfError, tags }: Lifetime): void {
  load.keep({
    ttl,
    staleWhileRevalidate: Math.min(staleWhileRevalidate, LONGEST_WINDOW),
    staleIfError: Math.min(staleIfError, LONGEST_WINDOW),
    tags,
  })
}
