import type { Outcome } from '@cattlegrid/core'
import type { Route } from '../route/route.ts'

/**
 * Makes an uncacheable key cacheable again after a load without a lease brought a response that can be stored: the next request leads. Not
 * where another process leads, or has stored a response meanwhile.
 */
export async function clearUncacheable(
  { cache, callOptions }: Pick<Route, 'cache' | 'callOptions'>,
  key: string,
  outcome: Outcome | undefined,
): Promise<void> {
  const unleased = outcome?.kind === 'abandoned' && outcome.why === 'unleased'
  // With `onWaitTimeout: 'load'` another caller may hold the lease.
  if (!unleased || callOptions.onWaitTimeout === 'load') return
  const found = await cache.inspect(key).catch(() => undefined)
  if (found?.state === 'gone' && found.lease === null) await cache.delete(key).catch(() => undefined)
}
