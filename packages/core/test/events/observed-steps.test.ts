import { describe, expect, it } from '@jest/globals'
import { type Cache, type CacheEvent, createCache, type Duration, type EventName } from '@cattlegrid/core'
import { createFleet, Origin, rejection, settle } from '../support/fleet.ts'

/** The events of a cache that have one of these names, in their order. */
function hear<E extends EventName>(cache: Cache, ...names: readonly E[]): readonly CacheEvent<E>[] {
  const heard: CacheEvent<E>[] = []
  for (const name of names) cache.on(name, (event) => void heard.push(event))
  return heard
}

describe('an event', () => {
  it('has its name and the name of its cache', async () => {
    const cache = createCache({ ttl: '1s', name: 'products' })
    const heard = hear(cache.with({ ttl: '2s' }), 'commit')
    await cache.lookup('k', () => 1)
    expect(heard).toMatchObject([{ type: 'commit', cache: 'products' }])
    expect([cache.name, cache.with({ ttl: '2s' }).name, createCache().name]).toEqual([
      'products',
      'products',
      'default',
    ])
  })

  it('of a call that joins names the flight whose load it waits for', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const heard = hear(cache, 'miss', 'load', 'join', 'outcome', 'answer')
    const origin = new Origin()
    const calls = [cache.getOrSet('k', origin.loader), cache.getOrSet('k', origin.loader)]
    await settle(fleet)
    origin.last.resolve('one')
    await Promise.all(calls)
    await settle(fleet)
    const [first, second] = heard.filter((event) => event.type === 'miss').map(({ call }) => call)
    const load = heard.find((event) => event.type === 'load')
    const of = (type: EventName): unknown[] => heard.filter((event) => event.type === type)
    expect(first).not.toBe(second)
    expect(load).toMatchObject({ call: first })
    expect(of('join')).toMatchObject([{ call: second, flight: load?.flight }])
    expect(of('outcome')).toMatchObject([{ flight: load?.flight, leased: true }])
    expect(of('answer')).toMatchObject([{ call: first }, { call: second }])
  })

  it('of a flight that leads after it has waited for a lease says so', async () => {
    const fleet = createFleet()
    const [first, second] = fleet.caches
    const leads = [hear(first, 'lead'), hear(second, 'lead')]
    const origin = new Origin()
    const failing = rejection(first.getOrSet('k', origin.loader, { isFailure: () => false }))
    await settle(fleet)
    const following = second.getOrSet('k', () => 'two')
    await settle(fleet)
    origin.last.reject(new Error('not mine'))
    await failing
    await settle(fleet)
    expect(await following).toBe('two')
    expect(leads).toMatchObject([[{ takeover: false }], [{ takeover: true }]])
  })

  it('of a stale hit comes without a listener of every hit', async () => {
    const fleet = createFleet({ ttl: '10s', staleWhileRevalidate: '10s' })
    const [cache] = fleet.caches
    const heard = hear(cache, 'stale-hit')
    await cache.set('k', 'one')
    await cache.getOrSet('k', () => 'two')
    await fleet.runtime.advance(12_000)
    await cache.getOrSet('k', () => 'two')
    expect(heard).toMatchObject([{ key: 'k', from: 'store', age: 12_000, freshFor: -2000 }])
  })
})

interface Faults {
  readonly renews: boolean
  readonly keepsFence: boolean
  readonly maxHold?: Duration
}

describe('a violation', () => {
  /** The violations of a load of 4 s. */
  async function violationsOf({ renews, keepsFence, maxHold = '1h' }: Faults): Promise<readonly CacheEvent[]> {
    const fleet = createFleet({ lease: { duration: '3s', maxHold } })
    const [cache] = fleet.caches
    const violations = hear(cache, 'violation')
    if (!renews) fleet.store.renew = () => Promise.resolve({ kind: 'refused', why: 'taken' })
    const { commit } = fleet.store
    // Like a store without a fence: it stores whatever lease it is given.
    fleet.store.commit = async (lease, entry, codec, onSlow) => {
      const answer = await commit.call(fleet.store, lease, entry, codec, onSlow)
      return answer.kind === 'refused' ? { kind: 'stored', version: 'unfenced' } : answer
    }
    if (keepsFence) fleet.store.commit = () => Promise.resolve({ kind: 'refused', why: 'taken' })
    const origin = new Origin()
    const call = cache.getOrSet('k', origin.loader)
    await fleet.runtime.advance(4000)
    origin.last.resolve('old')
    await call
    await settle(fleet)
    return violations
  }

  it('is reported when the store accepts the commit of a lease that it did not renew', async () => {
    expect(await violationsOf({ renews: false, keepsFence: false })).toMatchObject([
      { key: 'k', what: 'commit-after-loss' },
    ])
  })

  it('is none when the store refuses that commit', async () => {
    expect(await violationsOf({ renews: false, keepsFence: true })).toEqual([])
  })

  it('is none when the store has renewed the lease, or was not asked to because of maxHold', async () => {
    expect(await violationsOf({ renews: true, keepsFence: false })).toEqual([])
    expect(await violationsOf({ renews: true, keepsFence: false, maxHold: '3s' })).toEqual([])
  })
})

describe('stats', () => {
  it('count hits by status and copy, with no listener', async () => {
    const fleet = createFleet({ ttl: '10s', staleWhileRevalidate: '10s' })
    const [cache] = fleet.caches
    await cache.set('k', 'one')
    await cache.getOrSet('k', () => 'two')
    cache.peek('k')
    await cache.lookup('k', () => 'two')
    await cache.getOrSetMany(['k'], () => new Map())
    await fleet.runtime.advance(12_000)
    await cache.getOrSet('k', () => 'two')
    expect(cache.stats().hits).toEqual({
      fresh: { store: 4, near: 0, outage: 0 },
      stale: { store: 1, near: 0, outage: 0 },
    })
  })

  it('say what runs and waits now', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const origin = new Origin()
    const calls = [cache.getOrSet('k', origin.loader), cache.getOrSet('k', origin.loader)]
    await settle(fleet)
    expect(cache.stats()).toMatchObject({ waiting: 2, loading: 1, leases: 1 })
    origin.last.resolve('one')
    await Promise.all(calls)
    await settle(fleet)
    expect(cache.stats()).toMatchObject({ waiting: 0, loading: 0, leases: 0 })
  })
})
