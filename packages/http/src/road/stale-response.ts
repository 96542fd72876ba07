import type { Load } from '@cattlegrid/core'
import { isVaryRecord, type RecordedResponse, type Stored } from '../response/recorded-response.ts'
import { validatorsOf } from '../response/revalidate.ts'
import type { Route } from '../route/route.ts'

/** True if the load has a stale response that may replace a handler's failure. */
export function holdsUsableStale(load: Load): boolean {
  const stale = staleResponseOf(load)
  return stale !== undefined && (load.stale?.age ?? 0) < (stale.usableFor ?? Infinity)
}

/**
 * The stale response that the handler must revalidate; undefined where the route does not revalidate, or the
 * response has no validator.
 */
export function responseToRevalidateOf(
  load: Load,
  { revalidate }: Pick<Route, 'revalidate'>,
): RecordedResponse | undefined {
  const stale = staleResponseOf(load)
  return revalidate && stale !== undefined && Object.keys(validatorsOf(stale)).length > 0 ? stale : undefined
}

function staleResponseOf({ stale }: Load): RecordedResponse | undefined {
  const value = stale?.value as Stored | undefined
  return value === undefined || isVaryRecord(value) ? undefined : value
}
