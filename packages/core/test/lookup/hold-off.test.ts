import { describe, expect, it } from '@jest/globals'
import { createFleet, settle } from '../support/fleet.ts'

describe('a stale value of a key that is held off', () => {
  it('is served without a load, which nobody would get', async () => {
    const fleet = createFleet({ ttl: '10s', staleWhileRevalidate: '10m' })
    const [cache, other] = fleet.caches
    await cache.set('k', 'old')
    await other.expire('k', { holdOff: '1m' })
    let loads = 0
    const loader = (): string => `new ${(loads += 1)}`
    for (let call = 0; call < 20; call += 1) {
      expect(await cache.getOrSet('k', loader)).toBe('old')
      await settle(fleet)
      await fleet.runtime.advance(1000)
    }
    expect(loads).toBe(0)
    await fleet.runtime.advance(60_000)
    await cache.getOrSet('k', loader)
    await settle(fleet)
    expect(await cache.getOrSet('k', loader)).toBe('new 1')
  })
})
