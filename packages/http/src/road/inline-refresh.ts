import type { Lookup } from '@cattlegrid/core'
import { isUsable, isVaryRecord, type Stored } from '../response/recorded-response.ts'
import type { ResponseLoader } from './response-loader.ts'
import type { Route } from '../route/route.ts'

/**
 * For a route that refreshes inline: waits until this request's handler starts, or the refresh ends without
 * it. One request at a time refreshes a key; the others do not wait.
 */
export async function awaitInlineRefresh(
  { inlineRefreshes }: Pick<Route, 'inlineRefreshes'>,
  loader: ResponseLoader,
  key: string,
  { status, refresh }: Lookup<unknown>,
): Promise<void> {
  if (status !== 'stale' || refresh === undefined || inlineRefreshes.has(key)) return
  const refreshed = async (): Promise<void> => {
    inlineRefreshes.add(key)
    try {
      await refresh
    } finally {
      inlineRefreshes.delete(key)
    }
  }
  // The responder must find the recorder of the handler.
  await Promise.race([loader.whenHandlerStarts(), refreshed()])
}

/**
 * Returns the stored response for a request that cannot refresh it: if its load ran and brought nothing, no
 * other request would refresh the key for a while. Undefined where no stored response may be served without
 * a load.
 */
export async function storedWithoutRefresh(
  { viewWithoutStaleIfError }: Pick<Route, 'viewWithoutStaleIfError'>,
  key: string,
): Promise<Lookup<Stored> | undefined> {
  // A response that is kept only for errors needs a load first.
  const found = await viewWithoutStaleIfError.read<Stored>(key).catch(() => undefined)
  if (found === undefined || (!isVaryRecord(found.value) && !isUsable(found.value, found.age))) return undefined
  const { value, state, age, freshFor } = found
  return {
    value,
    status: state,
    from: 'store',
    role: 'none',
    age,
    freshFor,
    foundStale: false,
    waited: 0,
    outcome: undefined,
    refresh: undefined,
  }
}
