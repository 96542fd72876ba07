import { describe, expect, it } from '@jest/globals'
import { createFleet, type Fleet, Origin, rejection, settle } from '../support/fleet.ts'

type Invalidate = (fleet: Fleet) => Promise<unknown>

const away = () => Promise.resolve({ kind: 'away', why: 'error', cause: new Error('reset') } as const)

const byOthers: readonly (readonly [string, Invalidate])[] = [
  ['a delete in another process', ({ caches }) => caches[1].delete('k')],
  ['an expire in another process', ({ caches }) => caches[1].expire('k')],
  ['a clear of the store', ({ store }) => store.clear()],
  ['the expiry of a tag', ({ store }) => store.invalidateTags(['t'], 'expire')],
  ['the fall of a tag', ({ store }) => store.invalidateTags(['t'], 'delete')],
]

const ownInvalidations: readonly (readonly [string, Invalidate])[] = [
  ['delete', ({ caches }) => caches[0].delete('k')],
  ['expire', ({ caches }) => caches[0].expire('k')],
  ['invalidateTags', ({ caches }) => caches[0].invalidateTags(['t'])],
  ['expireTags', ({ caches }) => caches[0].expireTags(['t'])],
  ['clear', ({ caches }) => caches[0].clear()],
]

/** Runs a load, then `happens`, then a second call. Returns whether the second call joined the load. */
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

describe('a running load', () => {
  it('is joined by the next call', async () => {
    expect(await joinsAfter(createFleet(), () => Promise.resolve())).toBe(true)
  })

  it.each(byOthers)('is not joined after %s', async (_, happens) => {
    expect(await joinsAfter(createFleet(), happens)).toBe(false)
  })

  it.each(ownInvalidations)('is not joined after an acknowledged %s whose notice is lost', async (_, happens) => {
    const fleet = createFleet()
    fleet.muted = true
    expect(await joinsAfter(fleet, happens)).toBe(false)
  })

  it.each(ownInvalidations)(
    'is not joined after a rejected %s, which the store may have executed',
    async (_, happens) => {
      const fleet = createFleet()
      Object.assign(fleet.store, { invalidate: away, invalidateTags: away, clear: away })
      expect(await joinsAfter(fleet, (stage) => rejection(happens(stage)))).toBe(false)
    },
  )

  it('is not joined after a rejected set', async () => {
    const fleet = createFleet()
    fleet.store.put = away
    expect(await joinsAfter(fleet, ({ caches }) => rejection(caches[0].set('k', 1)))).toBe(false)
  })
})

describe('a flight that waits for a lease', () => {
  it.each(byOthers)('is joined by the next call after %s', async (_, happens) => {
    const fleet = createFleet()
    const [cache, leader] = fleet.caches
    const elsewhere = new Origin()
    const led = leader.getOrSet('k', elsewhere.loader)
    await settle(fleet)
    const own = new Origin()
    const before = cache.getOrSet('k', own.loader)
    await settle(fleet)
    let joins = 0
    cache.on('join', () => (joins += 1))
    await happens(fleet)
    const after = cache.getOrSet('k', own.loader)
    await settle(fleet)
    expect(joins).toBe(1)
    elsewhere.last.resolve('elsewhere')
    await led
    await fleet.runtime.advance(1000)
    if (own.count > 0) own.last.resolve('own')
    expect(await before).toBe(await after)
    expect(own.count).toBeLessThanOrEqual(1)
  })
})

describe('a flight that waits for a permit', () => {
  it.each([...byOthers, ...ownInvalidations])('is joined by the next call after %s', async (_, happens) => {
    const fleet = createFleet({ maxLoads: 1 })
    const [cache] = fleet.caches
    const busy = new Origin()
    const running = cache.getOrSet('busy', busy.loader)
    const { loader } = new Origin()
    const calls = [cache.getOrSet('k', async () => 'value')]
    await settle(fleet)
    let joins = 0
    cache.on('join', () => (joins += 1))
    await happens(fleet)
    calls.push(cache.getOrSet('k', loader))
    await settle(fleet)
    expect(joins).toBe(1)
    busy.last.resolve('done')
    await running
    expect(await Promise.all(calls)).toEqual(['value', 'value'])
  })
})

describe('a flight that loads without the store', () => {
  it.each(byOthers)('is joined by the next call, though %s detached it during its acquire', async (_, happens) => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    let asked = 0
    fleet.store.acquire = async () => {
      asked += 1
      if (asked === 1) await happens(fleet)
      return away()
    }
    const origin = new Origin()
    const before = cache.getOrSet('k', origin.loader)
    await settle(fleet)
    const after = cache.getOrSet('k', origin.loader)
    await settle(fleet)
    expect(origin.count).toBe(1)
    origin.last.resolve('value')
    expect(await Promise.all([before, after])).toEqual(['value', 'value'])
  })
})

describe('a running read', () => {
  it.each(byOthers)('is not joined after %s', async (_, happens) => {
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
