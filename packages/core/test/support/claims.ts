import type { Cache, Claim, ClaimedLead, ClaimOptions } from '@cattlegrid/core'

/** Claims the key, and expects the lead. */
export async function lead(cache: Cache, key = 'k', options: ClaimOptions = {}): Promise<ClaimedLead<unknown>> {
  const claim: Claim<unknown> = await cache.claim(key, options)
  if (claim.kind !== 'lead') throw new Error(`The claim brought ${claim.kind}`)
  return claim
}
