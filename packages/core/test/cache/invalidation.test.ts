import { describe, expect, it } from '@jest/globals'
import type { Cache, InvalidateOptions } from '@cattlegrid/core'
import { createFleet, type Fleet, holdBack, Origin, refuseNextCommit, settle } from '../support/fleet.ts'

describe('an invalidation', () => {
  it.each(['delete', 'expire', 'set'] as const)(
    'by %s keeps the result of a load that began before it out of the store',
    async (how) => {
      const fleet = createFleet({ staleWhileRevalidate: '1m' })
      const origin = new Origin()
      const leader = fleet.caches[0].lookup('k', origin.loader)
      await settle(fleet)
      if (how === 'set') await fleet.caches[1].set('k', 'set')
      else await fleet.caches[1][how]('k')
      origin.last.resolve('old')
      expect(await leader).toMatchObject({ value: 'old', outcome: { kind: 'refused', why: 'voided' } })
      expect(await fleet.caches[2].get('k', { stale: true })).toBe(how === 'set' ? 'set' : undefined)
    },
  )

  describe('whose notice is lost makes a caller that joined after the load began read again', () => {
    /** What the early and the late caller get. */
    const values = async (
      fleet: Fleet,
      origin: Origin,
      decide: () => void,
      how: InvalidateOptions = {},
    ): Promise<readonly string[]> => {
      const [cache, other] = fleet.caches
      fleet.muted = true
      const early = cache.getOrSet('k', origin.loader)
      await settle(fleet)
      await other.delete('k', how)
      const late = cache.getOrSet('k', () => 'new')
      await settle(fleet)
      decide()
      origin.last.resolve('old')
      return await Promise.all([early, late])
    }

    it('instead of giving it the old value', async () => {
      expect(await values(createFleet(), new Origin(), () => {})).toEqual(['old', 'new'])
    })

    it('also when the result is uncacheable', async () => {
      const origin = new Origin()
      expect(await values(createFleet(), origin, () => origin.last.load.uncacheable())).toEqual(['old', 'new'])
    })

    it('also when the store cannot keep the result', async () => {
      const fleet = createFleet()
      refuseNextCommit(fleet.store)
      expect(await values(fleet, new Origin(), () => {})).toEqual(['old', 'new'])
    })

    it('also when the load had no lease, because the key was held off', async () => {
      const fleet = createFleet()
      await fleet.caches[1].delete('k', { holdOff: '1m' })
      expect(await values(fleet, new Origin(), () => {}, { holdOff: '1m' })).toEqual(['old', 'new'])
    })
  })

  it('detaches the running flight, so that the next caller begins a load of its own', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const old = new Origin()
    const before = cache.getOrSet('k', old.loader)
    await settle(fleet)
    await cache.delete('k')
    expect(await cache.getOrSet('k', () => 'new')).toBe('new')
    old.last.resolve('old')
    expect(await before).toBe('old')
    expect(await cache.get('k')).toBe('new')
  })

  it('detaches the running read, so that the next call does not join it', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    await cache.set('k', 'old')
    const { read } = fleet.store
    let answer = (): void => {}
    fleet.store.peek = () => undefined
    fleet.store.read = async (...args) => {
      const found = await read.apply(fleet.store, args)
      await new Promise<void>((resolve) => (answer = resolve))
      return found
    }
    const before = cache.get('k')
    await settle(fleet)
    const slow = answer
    fleet.store.read = read
    await cache.delete('k')
    expect(await cache.get('k')).toBeUndefined()
    slow()
    expect(await before).toBe('old')
  })

  it('wakes the followers, and one of them leads', async () => {
    const fleet = createFleet()
    const old = new Origin()
    const leader = fleet.caches[0].getOrSet('k', old.loader)
    await settle(fleet)
    const next = new Origin()
    const follower = fleet.caches[1].getOrSet('k', next.loader)
    await settle(fleet)
    await fleet.caches[2].delete('k')
    await settle(fleet)
    next.last.resolve('new')
    expect(await follower).toBe('new')
    old.last.resolve('old')
    expect(await leader).toBe('old')
  })

  it('by expire keeps the value as stale, inside its windows', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m' })
    const [cache] = fleet.caches
    await cache.set('k', 'kept')
    await cache.expire('k')
    expect(await cache.get('k')).toBeUndefined()
    expect(await cache.get('k', { stale: true })).toBe('kept')
    const origin = new Origin()
    expect(await cache.getOrSet('k', origin.loader)).toBe('kept')
    await settle(fleet)
    expect(origin.count).toBe(1)
  })

  it('ends a cooldown and an uncacheable mark', async () => {
    const fleet = createFleet({ failureCooldown: { min: '5s' } })
    const [cache] = fleet.caches
    await cache.getOrSet('failed', () => Promise.reject(new Error('down'))).catch(() => {})
    await cache.delete('failed')
    expect(await cache.getOrSet('failed', () => 'up')).toBe('up')
    await cache.getOrSet('mark', (load) => load.uncacheable())
    await cache.delete('mark')
    await cache.getOrSet('mark', () => 'kept')
    expect(await cache.get('mark')).toBe('kept')
  })

  it('rejects while the store is away, and still detaches the running flight', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const old = new Origin()
    void cache.getOrSet('k', old.loader)
    await settle(fleet)
    fleet.store.invalidate = () => Promise.resolve({ kind: 'away', why: 'error', cause: new Error('reset') })
    await expect(cache.delete('k')).rejects.toMatchObject({ code: 'CATTLEGRID_STORE_AWAY', maybeApplied: true })
    const next = cache.getOrSet('k', () => 'new')
    await settle(fleet)
    old.last.resolve('old')
    expect(['old', 'new']).toContain(await next)
    await expect(cache.set('k', 1, { ttl: '1s' })).resolves.toBeUndefined()
  })
})

describe('a loader', () => {
  it.each<[string, (cache: Cache) => Promise<void>]>([
    ['delete', (cache) => cache.delete('k')],
    ['invalidateTags', (cache) => cache.invalidateTags(['t'])],
  ])('gets no stale value that a %s has removed between the read and the acquire', async (_, invalidate) => {
    const fleet = createFleet({ staleIfError: '1m' })
    const [cache, other] = fleet.caches
    await cache.set('k', 'old', { tags: ['t'] })
    await fleet.runtime.advance(10_001)
    const acquire = holdBack(fleet, 'acquire')
    const origin = new Origin()
    const call = cache.getOrSet('k', origin.loader)
    await settle(fleet)
    await invalidate(other)
    acquire.letGo()
    await settle(fleet)
    expect(origin.last.load.stale).toBeUndefined()
    origin.last.resolve('new')
    expect(await call).toBe('new')
  })
})
