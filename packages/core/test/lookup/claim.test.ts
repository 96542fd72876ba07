import { describe, expect, it } from '@jest/globals'
import { createCache } from '@cattlegrid/core'
import { lead } from '../support/claims.ts'
import { createFleet, type Fleet, holdBack, Origin, rejection, settle, trace } from '../support/fleet.ts'
import { never } from '../support/memory-cache.ts'

/** Stores a value and lets it become stale. */
async function stale(fleet: Fleet): Promise<void> {
  await fleet.caches[0].set('k', 'old')
  await fleet.runtime.advance(11_000)
}

describe('a claim of a key without a value', () => {
  it('is the lead, and every other claim in the fleet waits for its commit', async () => {
    const { caches } = createFleet()
    const leading = await lead(caches[0])
    const others = caches.flatMap((cache) => [cache.claim('k'), cache.claim('k')])
    expect(await leading.commit('value')).toEqual({ kind: 'committed' })
    for (const claim of await Promise.all(others)) expect(claim).toMatchObject({ kind: 'value', value: 'value' })
  })

  it('is the lead of one of 1,600 callers in one process on memory, and the value for all others', async () => {
    const cache = createCache({ ttl: '1m' })
    const claims = await Promise.all(
      Array.from({ length: 1600 }, async () => {
        const claim = await cache.claim('k')
        if (claim.kind === 'lead') await claim.commit('value')
        return claim.kind
      }),
    )
    expect(claims.filter((kind) => kind === 'lead')).toHaveLength(1)
    expect(claims.filter((kind) => kind === 'value')).toHaveLength(1599)
  })

  it('meets callers of getOrSet on one key, whoever leads', async () => {
    const { caches } = createFleet()
    const origin = new Origin()
    const leading = await lead(caches[0])
    const waiting = [caches[0].getOrSet('k', never), caches[1].getOrSet('k', never)]
    await leading.commit('claimed')
    expect(await Promise.all(waiting)).toEqual(['claimed', 'claimed'])
    const loading = caches[1].getOrSet('other', origin.loader)
    await new Promise(setImmediate)
    const claims = [caches[1].claim('other'), caches[2].claim('other')]
    origin.last.resolve('loaded')
    expect(await Promise.all([loading, ...claims])).toMatchObject(['loaded', { value: 'loaded' }, { value: 'loaded' }])
  })

  it('is the right to load alone while the key is uncacheable', async () => {
    const { caches } = createFleet()
    await (await lead(caches[0])).uncacheable({ for: '5s', why: 'personal' })
    expect(await Promise.all(caches.map((cache) => cache.claim('k')))).toEqual(
      caches.map(() => ({ kind: 'alone', why: 'uncacheable' })),
    )
  })

  it('is the right to load alone for each of the callers that waited for a lead that ended as uncacheable', async () => {
    const { caches } = createFleet()
    const leading = await lead(caches[0])
    const others = [caches[0].claim('k'), caches[0].claim('k'), caches[1].claim('k')]
    await leading.uncacheable()
    for (const claim of await Promise.all(others)) expect(claim).toEqual({ kind: 'alone', why: 'uncacheable' })
  })

  it('is the right to load alone during a hold-off', async () => {
    const { caches } = createFleet()
    await caches[0].delete('k', { holdOff: '5s' })
    expect(await caches[1].claim('k')).toEqual({ kind: 'alone', why: 'held-off' })
  })

  it('is the right to load alone when the store does not answer and this process keeps no leases', async () => {
    const fleet = createFleet()
    fleet.store.read = () => Promise.resolve({ kind: 'away', why: 'error', cause: new Error('gone') })
    expect(await fleet.caches[0].claim('k')).toEqual({ kind: 'alone', why: 'away' })
  })

  it('is the right to load alone at the end of waitTimeout, and needs no permit for it', async () => {
    const fleet = createFleet({ maxLoads: 1, waitTimeout: '1s', lease: { duration: '30s' } })
    await lead(fleet.caches[0])
    const claiming = fleet.caches[1].claim('k')
    const others = fleet.caches[0].claim('other')
    await fleet.runtime.advance(1100)
    expect(await Promise.all([claiming, others])).toEqual([
      { kind: 'alone', why: 'wait-timeout' },
      { kind: 'alone', why: 'wait-timeout' },
    ])
  })

  it('is the right to load alone while the cache is paused', async () => {
    const [cache] = createFleet().caches
    cache.pause()
    expect(await cache.claim('k')).toEqual({ kind: 'alone', why: 'paused' })
  })

  it('rejects with the reason of its signal, and its lease goes to the next caller', async () => {
    const fleet = createFleet()
    const acquiring = holdBack(fleet, 'acquire')
    const leaving = new AbortController()
    const claiming = rejection(fleet.caches[0].claim('k', { signal: leaving.signal }))
    await settle(fleet)
    leaving.abort(new Error('left'))
    expect(await claiming).toEqual(new Error('left'))
    acquiring.letGo()
    expect((await lead(fleet.caches[1])).kind).toBe('lead')
  })

  it('rejects while the key cools down', async () => {
    const { caches } = createFleet()
    await (await lead(caches[0])).fail(new Error('source is down'))
    expect(await rejection(caches[1].claim('k'))).toMatchObject({ code: 'CATTLEGRID_LOAD_FAILED' })
  })
})

describe('a claim that has its answer', () => {
  it('hands over the lead that its flight gets later, so that others need not wait for a holder that is not there', async () => {
    const fleet = createFleet({ staleIfError: '1m', softTimeout: '1s', lease: { duration: '30s' } })
    await stale(fleet)
    const leading = await lead(fleet.caches[0])
    const claiming = fleet.caches[1].claim('k')
    const joining = fleet.caches[1].getOrSet('k', async () => 'loaded', { softTimeout: false })
    await fleet.runtime.advance(1100)
    expect(await claiming).toMatchObject({ kind: 'value', value: 'old' })
    await leading.handOver()
    expect(await joining).toBe('loaded')
  })

  it('hands it over also when its caller has left, and another call waits for its flight', async () => {
    const fleet = createFleet({ lease: { duration: '30s' } })
    const leading = await lead(fleet.caches[0])
    const leaving = new AbortController()
    const claiming = rejection(fleet.caches[1].claim('k', { signal: leaving.signal }))
    const joining = fleet.caches[1].getOrSet('k', async () => 'loaded')
    await settle(fleet)
    leaving.abort(new Error('left'))
    expect(await claiming).toEqual(new Error('left'))
    await leading.handOver()
    expect(await joining).toBe('loaded')
  })
})

describe('a claim of a fresh value', () => {
  it('is that value, from memory and from the store', async () => {
    const { caches } = createFleet({ earlyRefresh: { before: '9s' } })
    await caches[0].set('k', 'value')
    const events = trace(caches[1], 'hit', 'miss', 'load')
    expect(await caches[1].claim('k')).toMatchObject({
      kind: 'value',
      value: 'value',
      status: 'fresh',
      freshFor: 10_000,
    })
    expect(events).toEqual(['hit'])
  })

  it('is no early refresh, also when one is due', async () => {
    const fleet = createFleet({ earlyRefresh: { before: '9s' } })
    await fleet.caches[0].set('k', 'value')
    await fleet.runtime.advance(5000)
    expect(await fleet.caches[1].claim('k')).toMatchObject({ kind: 'value', status: 'fresh' })
  })
})

describe('a claim of a stale value', () => {
  it('is the lead for one caller, and the stale value at once for all others', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m' })
    await stale(fleet)
    const leading = await lead(fleet.caches[0])
    expect(leading.stale).toMatchObject({ value: 'old', age: 11_000 })
    for (const cache of fleet.caches)
      expect(await cache.claim('k')).toMatchObject({ kind: 'value', value: 'old', status: 'stale', age: 11_000 })
    expect(await leading.commit('new')).toEqual({ kind: 'committed' })
    expect(await fleet.caches[1].claim('k')).toMatchObject({ kind: 'value', value: 'new' })
  })

  it('rejects with the reason of its signal while the lease is asked for, and hands that over', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m', lease: { duration: '30s' } })
    await stale(fleet)
    const acquiring = holdBack(fleet, 'acquire')
    const leaving = new AbortController()
    const claiming = rejection(fleet.caches[0].claim('k', { signal: leaving.signal }))
    await settle(fleet)
    leaving.abort(new Error('left'))
    await settle(fleet)
    acquiring.letGo()
    expect(await claiming).toEqual(new Error('left'))
    await settle(fleet)
    expect((await lead(fleet.caches[1])).stale?.value).toBe('old')
  })

  it('is the stale value behind a refresh that another caller leads, of either kind', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m' })
    const origin = new Origin()
    await stale(fleet)
    expect(await fleet.caches[0].getOrSet('k', origin.loader)).toBe('old')
    await settle(fleet)
    expect(await fleet.caches[0].claim('k')).toMatchObject({ kind: 'value', value: 'old' })
    expect(await fleet.caches[1].claim('k')).toMatchObject({ kind: 'value', value: 'old' })
    origin.last.resolve('new')
  })

  it('may be led again at once after its lead was handed over', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m' })
    await stale(fleet)
    await (await lead(fleet.caches[0])).handOver()
    expect((await lead(fleet.caches[0])).stale?.value).toBe('old')
  })

  it('is the stale value while the key cools down', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m' })
    await stale(fleet)
    await (await lead(fleet.caches[0])).fail(new Error('source is down'))
    for (const cache of fleet.caches) expect(await cache.claim('k')).toMatchObject({ kind: 'value', value: 'old' })
  })

  it('is the value behind which a load was slow, for a caller that may have a stale one only then', async () => {
    const fleet = createFleet({ staleIfError: '1m', softTimeout: '1s', lease: { duration: '30s' } })
    await stale(fleet)
    await lead(fleet.caches[0])
    const claiming = fleet.caches[1].claim('k')
    await fleet.runtime.advance(1100)
    expect(await claiming).toMatchObject({ kind: 'value', value: 'old', status: 'stale' })
  })
})
