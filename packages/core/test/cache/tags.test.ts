import { describe, expect, it } from '@jest/globals'
import { createFleet, Origin, settle } from '../support/fleet.ts'

describe('invalidateTags', () => {
  it('makes every entry unusable that carries one of the tags, in every process, and no other', async () => {
    const fleet = createFleet({ staleIfError: '1h' })
    const [cache, other] = fleet.caches
    await cache.getOrSet('call', () => 1, { tags: ['user:7'] })
    await cache.set('set', 2, { tags: ['user:7', 'list'] })
    await cache.getOrSet('kept', (load) => load.keep({ tags: ['user:7'] }))
    await cache.set('other', 3, { tags: ['user:8'] })
    await other.invalidateTags(['user:7'])
    expect(await cache.getMany(['call', 'set', 'kept', 'other'], { stale: true })).toEqual(new Map([['other', 3]]))
  })

  it.each(['before', 'late'])(
    'keeps the result of a load that began before it out, its tags named %s',
    async (when) => {
      const fleet = createFleet()
      const [cache, other] = fleet.caches
      const origin = new Origin()
      const leader = cache.lookup('k', origin.loader, when === 'before' ? { tags: ['t'] } : {})
      await settle(fleet)
      await other.invalidateTags(['t'])
      if (when === 'late') origin.last.load.keep({ tags: ['t'] })
      origin.last.resolve('old')
      expect(await leader).toMatchObject({ value: 'old', outcome: { kind: 'refused', why: 'tag-voided' } })
      expect(await other.get('k')).toBeUndefined()
      expect(await other.getOrSet('k', () => 'new')).toBe('new')
    },
  )

  it('refuses invalid tags', async () => {
    const [cache] = createFleet().caches
    for (const tags of ['t', [''], [7], ['x'.repeat(257)], undefined]) {
      await expect(cache.invalidateTags(tags as never)).rejects.toMatchObject({ code: 'CATTLEGRID_INVALID_OPTION' })
    }
  })
})

describe('clear', () => {
  it('removes everything, returns the number of entries, and stores no value of a running load', async () => {
    const fleet = createFleet()
    const [cache, other] = fleet.caches
    await cache.set('a', 1)
    await cache.set('b', 2)
    const origin = new Origin()
    const running = cache.lookup('c', origin.loader)
    await settle(fleet)
    expect(await other.clear()).toBe(2)
    origin.last.resolve('old')
    expect(await running).toMatchObject({ outcome: { kind: 'refused' } })
    expect(await cache.getMany(['a', 'b', 'c'])).toEqual(new Map())
  })
})

describe('a hold-off', () => {
  it('lets loads run, one per process, and stores nothing for its time', async () => {
    const fleet = createFleet()
    const [cache, other] = fleet.caches
    await cache.set('k', 'old')
    await cache.delete('k', { holdOff: '2s' })
    let loads = 0
    const replica = () => `replica ${(loads += 1)}`
    expect(await Promise.all([cache.getOrSet('k', replica), cache.getOrSet('k', replica)])).toEqual([
      'replica 1',
      'replica 1',
    ])
    expect(await other.getOrSet('k', replica)).toBe('replica 2')
    expect(await cache.get('k')).toBeUndefined()
    await fleet.runtime.advance(2001)
    await cache.getOrSet('k', () => 'caught up')
    expect(await other.get('k')).toBe('caught up')
  })
})

describe('inspect', () => {
  it('shows the entry of a key, its lease or cooldown, and the number of calls that wait in this process', async () => {
    const fleet = createFleet({ failureCooldown: { min: '4s' }, staleWhileRevalidate: '1m' })
    const [cache, other] = fleet.caches
    expect(await cache.inspect('k')).toMatchObject({ state: 'gone', lease: null, cooldown: null, waitersHere: 0 })
    await cache.set('k', 1)
    await fleet.runtime.advance(10_500)
    const origin = new Origin()
    void cache.getOrSet('k', origin.loader)
    const waiting = [0, 1].map(() => other.getOrSet('k', origin.loader, { staleWhileRevalidate: false }))
    await fleet.runtime.advance(100)
    expect(await other.inspect('k')).toMatchObject({
      state: 'stale',
      age: 10_600,
      freshFor: -600,
      lease: { heldFor: 100, awaited: true },
      waitersHere: 2,
    })
    origin.last.resolve(2)
    await settle(fleet)
    await Promise.all(waiting)
    await cache.getOrSet('down', () => Promise.reject(new RangeError('down'))).catch(() => {})
    expect(await other.inspect('down')).toMatchObject({
      cooldown: { remaining: 4000, attempts: 1, failure: { name: 'RangeError' } },
    })
  })
})
