import { describe, expect, it } from '@jest/globals'
import { createFleet, type Fleet, Origin, settle } from '../support/fleet.ts'

async function expired(fleet: Fleet, by = 1): Promise<void> {
  await fleet.caches[0].set('k', 'stale')
  await fleet.runtime.advance(10_000 + by)
}

describe('a stale value', () => {
  it('is served at once within staleWhileRevalidate, while one leader of the fleet refreshes it', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m' })
    await expired(fleet)
    const origin = new Origin()
    const calls = fleet.caches.flatMap((cache) => Array.from({ length: 50 }, () => cache.lookup('k', origin.loader)))
    const answers = await Promise.all(calls)
    expect(new Set(answers.map(({ value, status, waited }) => `${value} ${status} ${waited}`))).toEqual(
      new Set(['stale stale 0']),
    )
    await settle(fleet)
    expect(origin.count).toBe(1)
    expect(origin.last.load).toMatchObject({ background: true, stale: { value: 'stale', age: 10_001 } })
    origin.last.resolve('new')
    expect((await answers[0]?.refresh)?.kind).toBe('committed')
    expect(await fleet.caches[2].getOrSet('k', origin.loader)).toBe('new')
    expect(origin.count).toBe(1)
  })

  it('costs no further acquire while another process refreshes that version', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m' })
    await expired(fleet)
    const origin = new Origin()
    let acquires = 0
    const { acquire } = fleet.store
    fleet.store.acquire = (...args) => {
      acquires += 1
      return acquire.apply(fleet.store, args)
    }
    await fleet.caches[0].getOrSet('k', origin.loader)
    for (let hit = 0; hit < 20; hit += 1) {
      await fleet.caches[1].getOrSet('k', origin.loader)
      await settle(fleet)
    }
    expect(acquires).toBe(2)
    origin.last.resolve('new')
    await settle(fleet)
    await fleet.runtime.advance(10_001)
    await fleet.caches[1].getOrSet('k', origin.loader)
    await settle(fleet)
    expect(origin.count).toBe(2)
  })

  it('is served inside staleIfError when the load fails', async () => {
    const fleet = createFleet({ staleIfError: '1h' })
    await expired(fleet)
    const call = fleet.caches[0].lookup('k', () => Promise.reject(new Error('down')))
    expect(await call).toMatchObject({ value: 'stale', status: 'stale' })
  })

  it('comes with the outcome of the load of this call, if that load failed', async () => {
    const fleet = createFleet({ staleIfError: '1h', failureCooldown: { min: '1s', max: '1s' } })
    await expired(fleet)
    const error = new Error('down')
    const failing = () => Promise.reject(error)
    expect(await fleet.caches[0].lookup('k', failing)).toMatchObject({
      value: 'stale',
      role: 'none',
      outcome: { kind: 'failed', error },
    })
    // The key cools down: this call's loader does not run.
    expect(await fleet.caches[0].lookup('k', failing)).toMatchObject({ value: 'stale', outcome: undefined })
  })

  it('is served inside staleIfError while the key cools down, without a load', async () => {
    const fleet = createFleet({ staleIfError: '1h', failureCooldown: { min: '1s' } })
    await expired(fleet)
    await fleet.caches[0].getOrSet('k', () => Promise.reject(new Error('down')))
    const origin = new Origin()
    expect(await fleet.caches[1].getOrSet('k', origin.loader)).toBe('stale')
    expect(origin.count).toBe(0)
  })

  it('is served inside staleIfError to a caller whose load is slow, at softTimeout, while the load goes on in the background', async () => {
    const fleet = createFleet({ staleIfError: '1h', softTimeout: '300ms' })
    await expired(fleet)
    const origin = new Origin()
    const call = fleet.caches[0].lookup('k', origin.loader)
    await fleet.runtime.advance(300)
    const { value, status, waited, refresh } = await call
    expect({ value, status, waited }).toEqual({ value: 'stale', status: 'stale', waited: 300 })
    origin.last.resolve('new')
    expect(await refresh).toEqual({ kind: 'committed' })
  })

  it('is not served at softTimeout: false, where the caller waits for the outcome', async () => {
    const fleet = createFleet({ staleIfError: '1h', softTimeout: false })
    await expired(fleet)
    const origin = new Origin()
    const call = fleet.caches[0].getOrSet('k', origin.loader)
    await fleet.runtime.advance(20_000)
    origin.last.resolve('new')
    expect(await call).toBe('new')
  })

  it('is not served when its window closed while the caller waited', async () => {
    const fleet = createFleet({ staleIfError: '2s', softTimeout: false })
    await expired(fleet, 1999)
    const origin = new Origin()
    const call = fleet.caches[0].getOrSet('k', origin.loader)
    await fleet.runtime.advance(1)
    origin.last.reject(new Error('down'))
    await expect(call).rejects.toThrow('down')
  })

  it('is not served to a call that is stricter than the entry', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m' })
    await expired(fleet)
    expect(await fleet.caches[0].getOrSet('k', () => 'new', { staleWhileRevalidate: false })).toBe('new')
    await fleet.runtime.advance(2000)
    expect(await fleet.caches[0].getOrSet('k', () => 'newer', { maxAge: '1s' })).toBe('newer')
    expect(await fleet.caches[0].getOrSet('k', () => 'newest', { maxAge: '1s' })).toBe('newer')
  })

  it('is not served from a flight to a call that would not accept it from the store', async () => {
    const fleet = createFleet()
    const [cache, other] = fleet.caches
    const elsewhere = new Origin()
    const leader = other.getOrSet('k', (load) => {
      load.keep({ ttl: '100ms', staleWhileRevalidate: '1m', staleIfError: '1m' })
      return elsewhere.loader(load)
    })
    await settle(fleet)
    const easy = cache.getOrSet('k', () => 'unused')
    const origin = new Origin()
    const strict = cache.getOrSet('k', origin.loader, { staleWhileRevalidate: false, softTimeout: false })
    await settle(fleet)
    fleet.muted = true
    elsewhere.last.resolve('stale')
    expect(await leader).toBe('stale')
    await fleet.runtime.advance(501)
    expect(await easy).toBe('stale')
    origin.last.resolve('new')
    expect(await strict).toBe('new')
  })

  it('keeps the windows that it was committed with, whatever a later caller asks for', async () => {
    const fleet = createFleet()
    await expired(fleet)
    expect(await fleet.caches[0].getOrSet('k', () => 'new', { staleWhileRevalidate: '1h' })).toBe('new')
  })

  it('is not refreshed at every hit when its loader throws an error that is no failure', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m', isFailure: () => false })
    await expired(fleet)
    let loads = 0
    for (let hit = 0; hit < 10; hit += 1) {
      expect(await fleet.caches[0].getOrSet('k', () => ((loads += 1), Promise.reject(new Error('401'))))).toBe('stale')
      await settle(fleet)
    }
    expect(loads).toBe(1)
    await fleet.runtime.advance(5001)
    await fleet.caches[0].getOrSet('k', () => ((loads += 1), 'new'))
    await settle(fleet)
    expect(loads).toBe(2)
  })
})
