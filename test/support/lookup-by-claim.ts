import type { Cache, ClaimOptions, Lookup } from '@cattlegrid/core'

/** What a test needs to know of a call, through whichever door it came. */
export type Answer<V> = Pick<Lookup<V>, 'value' | 'status' | 'role' | 'outcome'>

/** As `cache.lookup`, by a claim: what a host does that hands no loader over. A stale value is refreshed by the caller that leads, which waits for it. */
export async function lookupByClaim<V>(
  cache: Cache,
  key: string,
  load: () => V | Promise<V>,
  options?: ClaimOptions<V>,
): Promise<Answer<V>> {
  const claim = await cache.claim<V>(key, options)
  if (claim.kind === 'value') {
    const { value, status, from } = claim
    return { value, status, role: from === 'load' ? 'follower' : 'none', outcome: undefined }
  }
  if (claim.kind === 'alone') return { value: await load(), status: 'loaded', role: 'none', outcome: undefined }
  try {
    const value = await load()
    return { value, status: 'loaded', role: 'leader', outcome: await claim.commit(value) }
  } catch (error) {
    await claim.fail(error)
    throw error
  }
}
