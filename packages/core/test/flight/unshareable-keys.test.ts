import { describe, expect, it } from '@jest/globals'
import type { Cache, CacheOptions, Duration } from '@cattlegrid/core'
import { countRequests, createFleet, type Fleet, Origin, rejection, settle, trace } from '../support/fleet.ts'

/** A fleet in which two processes know that the key is unshareable. */
async function unshareableFleet(time: Duration = '10s', options: CacheOptions = {}): Promise<Fleet> {
  const fleet = createFleet(options)
  for (const cache of fleet.caches.slice(0, 2))
    await cache.getOrSet('k', (load) => load.uncacheable({ share: false, for: time }))
  return fleet
}

describe('a key that is known to be unshareable', () => {
  it('is loaded without asking the store, in a process that knows the mark', async () => {
    const fleet = await unshareableFleet()
    const requests = countRequests(fleet)
    const events = trace(fleet.caches[1], 'load')
    for (const user of ['ann', 'bob', 'eve']) expect(await fleet.caches[1].getOrSet('k', () => user)).toBe(user)
    expect(requests.count).toBe(0)
    expect(events).toHaveLength(3)
  })

  it('is asked for again after a second, since a notice may be lost', async () => {
    const fleet = await unshareableFleet()
    fleet.muted = true
    await fleet.caches[0].delete('k')
    const events = trace(fleet.caches[1], 'lead')
    await fleet.runtime.advance(999)
    await fleet.caches[1].getOrSet('k', () => 'alone')
    expect(events).toEqual([])
    await fleet.runtime.advance(1)
    await fleet.caches[1].getOrSet('k', () => 'kept')
    expect(events).toEqual(['lead'])
  })

  it('is asked for again as soon as its mark expires', async () => {
    const fleet = await unshareableFleet('200ms')
    const events = trace(fleet.caches[1], 'lead')
    await fleet.runtime.advance(200)
    await fleet.caches[1].getOrSet('k', () => 'kept')
    expect(events).toEqual(['lead'])
  })

  it.each([
    ['a delete', (cache) => cache.delete('k')],
    ['an expire', (cache) => cache.expire('k')],
    ['a clear', (cache) => cache.clear()],
  ] satisfies [string, (cache: Cache) => Promise<unknown>][])('is asked for again after %s', async (_, end) => {
    for (const process of [0, 1] as const) {
      const fleet = await unshareableFleet()
      const requests = countRequests(fleet)
      // A process needs no notice of its own invalidation.
      fleet.muted = process === 1
      await end(fleet.caches[process])
      await fleet.caches[1].getOrSet('k', () => 'kept')
      expect(requests.count).toBe(2)
    }
  })

  it('is not asked for again after an invalidation of tags, which ends no mark', async () => {
    const fleet = await unshareableFleet()
    const requests = countRequests(fleet)
    await fleet.caches[1].invalidateTags(['t'])
    await fleet.caches[1].getOrSet('k', () => 'alone')
    expect(requests.count).toBe(0)
  })

  it('is served to all processes after a set in any of them', async () => {
    const fleet = await unshareableFleet()
    await fleet.caches[0].set('k', 'set')
    expect(await fleet.caches[1].getOrSet('k', () => 'alone')).toBe('set')
  })

  it('is not remembered when the notice that ends the mark overtakes the answer', async () => {
    const fleet = createFleet()
    const [cache, other] = fleet.caches
    await cache.getOrSet('k', (load) => load.uncacheable({ share: false }))
    const { acquire } = fleet.store
    fleet.store.acquire = async (...args) => {
      fleet.store.acquire = acquire
      const answer = await acquire.apply(fleet.store, args)
      await cache.delete('k')
      return answer
    }
    await other.getOrSet('k', () => 'alone')
    const events = trace(other, 'lead')
    await other.getOrSet('k', () => 'kept')
    expect(events).toEqual(['lead'])
  })

  it('is remembered from the moment of the request, however late the answer came', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    fleet.store.acquire = async () => {
      await fleet.runtime.advance(100)
      return { kind: 'uncacheable', remaining: 300, share: false }
    }
    await cache.getOrSet('k', () => 'alone')
    const requests = countRequests(fleet)
    await fleet.runtime.advance(199)
    await cache.getOrSet('k', () => 'alone')
    expect(requests.count).toBe(0)
    await fleet.runtime.advance(1)
    await cache.getOrSet('k', () => 'alone')
    expect(requests.count).toBe(2)
  })

  it('is not remembered from an outage', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const { read, acquire } = fleet.store
    const away = { kind: 'away', why: 'error', cause: new Error('reset') } as const
    fleet.store.read = () => Promise.resolve({ kind: 'missing', version: '', away })
    fleet.store.acquire = () => Promise.resolve({ kind: 'uncacheable', remaining: 10_000, share: false })
    await cache.getOrSet('k', () => 'alone')
    Object.assign(fleet.store, { read, acquire })
    const events = trace(cache, 'lead')
    await cache.getOrSet('k', () => 'kept')
    expect(events).toEqual(['lead'])
  })

  it('counts its callers towards maxWaitersPerKey while they queue for a permit', async () => {
    const fleet = await unshareableFleet('10s', { maxLoads: 1, maxWaitersPerKey: 1 })
    const cache = fleet.caches[1]
    const origin = new Origin()
    const ann = cache.getOrSet('k', origin.loader)
    const bob = cache.getOrSet('k', origin.loader)
    await settle(fleet)
    expect(await rejection(cache.getOrSet('k', origin.loader))).toMatchObject({ code: 'CATTLEGRID_TOO_MANY_WAITERS' })
    expect(origin.count).toBe(1)
    origin.last.resolve('ann')
    expect(await ann).toBe('ann')
    await settle(fleet)
    origin.last.resolve('bob')
    expect(await bob).toBe('bob')
  })

  it('is forgotten when too many keys are remembered', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    fleet.store.acquire = () => Promise.resolve({ kind: 'uncacheable', remaining: 10_000, share: false })
    for (let n = 0; n <= 10_000; n += 1) await cache.getOrSet(`k${n}`, () => n)
    const requests = countRequests(fleet)
    await cache.getOrSet('k10000', () => 1)
    expect(requests.count).toBe(0)
    await cache.getOrSet('k0', () => 0)
    expect(requests.count).toBe(2)
  })

  it('is loaded by every caller alone, whatever these loads decide', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    await cache.getOrSet('k', (load) => load.uncacheable({ share: false }))
    const origin = new Origin()
    const ann = cache.getOrSet('k', origin.loader)
    const bob = cache.getOrSet('k', origin.loader)
    await settle(fleet)
    expect(origin.count).toBe(2)
    origin.loads[0]?.resolve('ann')
    origin.loads[1]?.resolve('bob')
    expect(await Promise.all([ann, bob])).toEqual(['ann', 'bob'])
  })

  it('is loaded alone by a caller that asks the store while another load runs', async () => {
    const fleet = await unshareableFleet()
    const [cache] = fleet.caches
    const origin = new Origin()
    const ann = cache.getOrSet('k', origin.loader)
    await fleet.runtime.advance(1000)
    const bob = cache.getOrSet('k', origin.loader)
    await settle(fleet)
    expect(origin.count).toBe(2)
    origin.loads[0]?.resolve('ann')
    origin.loads[1]?.resolve('bob')
    expect(await Promise.all([ann, bob])).toEqual(['ann', 'bob'])
  })
})

describe('a result that its loader calls unshareable', () => {
  it('is kept from the callers that joined before', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const origin = new Origin()
    const ann = cache.getOrSet('k', origin.loader)
    await settle(fleet)
    const bob = cache.getOrSet('k', () => 'bob')
    await settle(fleet)
    origin.last.load.uncacheable({ share: false })
    expect(await bob).toBe('bob')
    origin.last.resolve('ann')
    expect(await ann).toBe('ann')
  })

  it('remains unshareable, whatever the loader calls later', async () => {
    const [cache] = createFleet().caches
    const { outcome } = await cache.lookup('k', (load) => {
      load.uncacheable({ share: false })
      load.uncacheable({ share: true })
    })
    expect(outcome).toMatchObject({ kind: 'uncacheable', share: false })
  })
})

describe('a load without the store', () => {
  it('delivers an unshareable result to its own caller only', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    fleet.store.read = () => Promise.resolve({ kind: 'away', why: 'error', cause: new Error('reset') })
    const calls = ['ann', 'bob', 'eve'].map((user) =>
      cache.getOrSet('k', async (load) => {
        await Promise.resolve()
        load.uncacheable({ share: false })
        return user
      }),
    )
    await settle(fleet)
    expect(await Promise.all(calls)).toEqual(['ann', 'bob', 'eve'])
  })
})
