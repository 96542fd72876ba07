import { describe, expect, it } from '@jest/globals'
import { createFleet, Origin, record, settle } from '../support/fleet.ts'
import { Remote } from '../support/remote.ts'

const tagged = { tags: ['t'], staleWhileRevalidate: '1m' } as const

describe('expireTags', () => {
  it('makes every entry stale that carries one of the tags, in every process, and no other', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m' })
    const [cache, other] = fleet.caches
    await cache.set('a', 1, { tags: ['user:7'] })
    await cache.set('b', 2, { tags: ['user:8'] })
    await cache.set('c', 3, { tags: ['user:7'], staleWhileRevalidate: 0 })
    await other.expireTags(['user:7'])
    expect(await cache.getMany(['a', 'b', 'c'])).toEqual(new Map([['b', 2]]))
    expect(await cache.getMany(['a', 'b', 'c'], { stale: true })).toEqual(
      new Map([
        ['a', 1],
        ['b', 2],
      ]),
    )
  })

  it('is followed by one refresh a key, whose callers are served the stale value at once', async () => {
    const fleet = createFleet()
    const origin = new Origin()
    for (const key of ['a', 'b']) await fleet.caches[0].set(key, 'old', tagged)
    await fleet.caches[1].expireTags(['t'])
    for (const cache of fleet.caches)
      for (const key of ['a', 'b', 'a']) expect(await cache.getOrSet(key, origin.loader, tagged)).toBe('old')
    await settle(fleet)
    expect(origin.loads.map(({ load }) => [load.key, load.background])).toEqual([
      ['a', true],
      ['b', true],
    ])
    for (const { resolve } of origin.loads) resolve('new')
    await settle(fleet)
    for (const cache of fleet.caches) expect(await cache.get('a')).toBe('new')
  })

  it('stores the value of a load that began before, as a stale one, and the next call refreshes it', async () => {
    const fleet = createFleet()
    const [cache, other] = fleet.caches
    const origin = new Origin()
    const leader = cache.lookup('k', origin.loader, tagged)
    await settle(fleet)
    await other.expireTags(['t'])
    origin.last.resolve('old')
    expect(await leader).toMatchObject({ value: 'old', outcome: { kind: 'committed' } })
    expect(await other.read('k')).toMatchObject({ value: 'old', state: 'stale' })
    expect(await other.getOrSet('k', origin.loader, tagged)).toBe('old')
    await settle(fleet)
    expect(origin.count).toBe(2)
  })

  it('opens the stale windows now', async () => {
    const fleet = createFleet({ staleIfError: '5s' })
    const [cache] = fleet.caches
    await cache.set('k', 'old', { tags: ['t'], ttl: '1h' })
    await cache.expireTags(['t'])
    await fleet.runtime.advance(4999)
    expect(await cache.read('k')).toMatchObject({ state: 'stale', freshFor: -4999 })
    await fleet.runtime.advance(1)
    expect(await cache.read('k')).toBeUndefined()
  })

  it('with an end leaves nothing of earlier loads from then on, whatever their windows are', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1h', staleIfError: '1h' })
    const [cache, other] = fleet.caches
    await cache.set('k', 'old', { tags: ['t'], ttl: '1h' })
    await other.expireTags(['t'], { deleteAfter: '5s' })
    await fleet.runtime.advance(4999)
    expect(await cache.read('k')).toMatchObject({ value: 'old', state: 'stale' })
    await fleet.runtime.advance(1)
    expect(await cache.read('k')).toBeUndefined()
    await other.expireTags(['t'], { deleteAfter: '1h' })
    expect(await cache.read('k')).toBeUndefined()
  })

  it('emits an event, refuses invalid tags, and rejects in its own name while the store is away', async () => {
    const [cache] = createFleet().caches
    const seen = record(cache, 'invalidate')
    await cache.expireTags(['a', 'b'])
    expect(seen).toEqual([['invalidate', { key: 'a b', tags: ['a', 'b'], how: 'expire-tags' }]])
    await expect(cache.expireTags([''])).rejects.toThrow(/'expireTags'/)
    const remote = new Remote()
    remote.refuses = new Error('reset')
    await expect(remote.join().expireTags(['t'])).rejects.toMatchObject({ code: 'CATTLEGRID_STORE_AWAY' })
  })
})

describe('expireTags on a shared store', () => {
  it('drops the near copies of its entries, in every process, and no others', async () => {
    const remote = new Remote()
    const [here, there] = [remote.join({ near: {} }), remote.join({ near: {} })]
    await there.set('k', 'old', tagged)
    await there.set('other', 'kept', { tags: ['u'] })
    await remote.runtime.advance(0)
    for (const key of ['k', 'other']) await here.get(key)
    expect(here.peek('k')).toMatchObject({ value: 'old' })
    await there.expireTags(['t'])
    await remote.runtime.advance(0)
    expect([here.peek('k'), here.peek('other')]).toMatchObject([undefined, { value: 'kept' }])
    expect(await here.read('k')).toMatchObject({ state: 'stale' })
  })

  it('leaves a stale value to serve while the store is away', async () => {
    const remote = new Remote()
    const here = remote.join()
    await here.set('k', 'old', tagged)
    await remote.runtime.advance(0)
    await here.expireTags(['t'])
    await here.get('k', { stale: true })
    remote.refuses = new Error('reset')
    expect(await here.lookup('k', () => 'loaded', tagged)).toMatchObject({
      value: 'old',
      status: 'stale',
      from: 'outage',
    })
  })

  it.each([
    ['an end is not served', { deleteAfter: '5s' }, undefined],
    ['no end is served stale', undefined, 'old'],
  ] as const)('with %s while the node of the tags alone is away', async (_name, options, value) => {
    const remote = new Remote()
    const [here, there] = [remote.join(), remote.join()]
    await here.set('k', 'old', tagged)
    await here.get('k')
    await there.expireTags(['t'], options)
    remote.delays.tagNumbers = Infinity
    const read = here.read('k')
    await remote.runtime.advance(1000)
    expect((await read)?.value).toBe(value)
  })

  it('with an end ends an entry for every reader at once, also for one that has read it before', async () => {
    const remote = new Remote()
    const [here, there] = [remote.join({ near: {} }), remote.join()]
    await here.set('k', 'old', tagged)
    await here.get('k')
    await there.expireTags(['t'], { deleteAfter: '5s' })
    expect(await here.read('k')).toMatchObject({ value: 'old', state: 'stale' })
    await remote.runtime.advance(4999)
    expect(await here.read('k')).toMatchObject({ value: 'old', state: 'stale' })
    await remote.runtime.advance(1)
    expect(await here.read('k')).toBeUndefined()
  })
})
