import { describe, expect, it } from '@jest/globals'
import { type Cache, createCache } from '@cattlegrid/core'
import { createFleet, type Fleet, Origin, rejection, settle } from './fleet.ts'

type Invalidate = (fleet: Fleet) => Promise<unknown>

const away = () => Promise.resolve({ kind: 'away', why: 'error', cause: new Error('reset') } as const)

const elsewhere: readonly (readonly [string, Invalidate])[] = [
  ['a delete in another process', ({ caches }) => caches[1].delete('k')],
  ['an expire in another process', ({ caches }) => caches[1].expire('k')],
  ['a clear of the store', ({ store }) => store.clear()],
  ['the fall of a tag', ({ store }) => store.invalidateTags(['t'])],
]

const unheard: readonly (readonly [string, Invalidate])[] = [
  ['delete', ({ caches }) => caches[0].delete('k')],
  ['expire', ({ caches }) => caches[0].expire('k')],
  ['invalidateTags', ({ caches }) => caches[0].invalidateTags(['t'])],
  ['clear', ({ caches }) => caches[0].clear()],
]

/** A load runs; then this happens; then another caller comes. Whether it joined the load that began before. */
async function joinsAfter(fleet: Fleet, happens: Invalidate): Promise<boolean> {
  const [cache] = fleet.caches
  let joins = 0
  cache.on('join', () => (joins += 1))
  const old = new Origin()
  const before = cache.getOrSet('k', old.loader)
  await settle(fleet)
  await happens(fleet)
  const next = new Origin()
  const after = cache.getOrSet('k', next.loader)
  await settle(fleet)
  old.last.resolve('old')
  await before
  await fleet.runtime.advance(6000)
  if (next.count > 0) next.last.resolve('new')
  await after
  return joins > 0
}

describe('a load that runs', () => {
  it('is joined by the next caller', async () => {
    expect(await joinsAfter(createFleet(), () => Promise.resolve())).toBe(true)
  })

  it.each(elsewhere)('is not joined any more after %s', async (_, happens) => {
    expect(await joinsAfter(createFleet(), happens)).toBe(false)
  })

  it.each(unheard)(
    'is not joined any more when %s is acknowledged, although its notice is lost',
    async (_, happens) => {
      const fleet = createFleet()
      fleet.muted = true
      expect(await joinsAfter(fleet, happens)).toBe(false)
    },
  )

  it.each(unheard)('is not joined any more when %s is rejected: the store may have executed it', async (_, happens) => {
    const fleet = createFleet()
    Object.assign(fleet.store, { invalidate: away, invalidateTags: away, clear: away })
    expect(await joinsAfter(fleet, (stage) => rejection(happens(stage)))).toBe(false)
  })

  it('is not joined any more when set is rejected', async () => {
    const fleet = createFleet()
    fleet.store.put = away
    expect(await joinsAfter(fleet, ({ caches }) => rejection(caches[0].set('k', 1)))).toBe(false)
  })
})

describe('a read under way', () => {
  it.each(elsewhere)('is not joined any more after %s', async (_, happens) => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const reads: (() => void)[] = []
    const { read } = fleet.store
    fleet.store.read = async (...args) => {
      await new Promise<void>((resolve) => reads.push(resolve))
      return read.apply(fleet.store, args)
    }
    const calls = [cache.get('k')]
    await settle(fleet)
    await happens(fleet)
    calls.push(cache.get('k'))
    await settle(fleet)
    expect(reads).toHaveLength(2)
    for (const letGo of reads) letGo()
    await Promise.all(calls)
  })
})

describe('a cache that was closed', () => {
  it.each<readonly [string, (cache: Cache) => Promise<unknown>]>([
    ['set', (cache) => cache.set('k', 1)],
    ['delete', (cache) => cache.delete('k')],
    ['expire', (cache) => cache.expire('k')],
    ['invalidateTags', (cache) => cache.invalidateTags(['t'])],
    ['clear', (cache) => cache.clear()],
    ['get', (cache) => cache.get('k')],
    ['getMany', (cache) => cache.getMany(['k'])],
    ['getOrSetMany', (cache) => cache.getOrSetMany(['k'], () => new Map())],
    ['inspect', (cache) => cache.inspect('k')],
    ['refresh', (cache) => cache.refresh('k', () => 1)],
  ])('refuses %s', async (_, call) => {
    const [cache] = createFleet().caches
    await cache.close()
    expect(await rejection(call(cache))).toMatchObject({ code: 'CATTLEGRID_CLOSED' })
  })

  it('listens to the store no more, whoever else goes on using it', async () => {
    const { store, runtime } = createFleet()
    let listeners = 0
    store.watch = () => {
      listeners += 1
      return () => {
        listeners -= 1
      }
    }
    const cache = createCache({ store, runtime })
    expect(listeners).toBe(1)
    await cache.close()
    expect(listeners).toBe(0)
  })
})
