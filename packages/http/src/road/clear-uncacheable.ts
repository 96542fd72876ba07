import type { Outcome } from '@cattlegrid/core'
import type { Route } from '../route/route.ts'

/**
 * Makes an uncacheable key cacheable again after a load without a lease brought a response that can be
 * stored: the next request leads. Does nothing where it finds a lease or a stored response. One that comes
 * between this check and the deletion is lost: that costs one more load, and serves nothing old.
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
