import { describe, expect, it } from '@jest/globals'
import { createFleet, Origin, settle } from './fleet.ts'

describe('a key that is remembered as unshareable', () => {
  it('gives every caller a load of its own, whatever these loads say', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    await cache.getOrSet('k', (load) => load.uncacheable({ share: false }))
    const origin = new Origin()
    const ann = cache.getOrSet('k', origin.loader)
    await settle(fleet)
    const bob = cache.getOrSet('k', origin.loader)
    await settle(fleet)
    expect(origin.count).toBe(2)
    origin.loads[0]?.resolve('ann')
    origin.loads[1]?.resolve('bob')
    expect(await Promise.all([ann, bob])).toEqual(['ann', 'bob'])
  })
})

describe('a key that is remembered as uncacheable but shareable', () => {
  it('is loaded once for the callers that are here', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    await cache.getOrSet('k', (load) => load.uncacheable())
    const origin = new Origin()
    const calls = [cache.getOrSet('k', origin.loader), cache.getOrSet('k', origin.loader)]
    await settle(fleet)
    expect(origin.count).toBe(1)
    origin.last.resolve('shared')
    expect(await Promise.all(calls)).toEqual(['shared', 'shared'])
  })
})

describe('a result that its loader calls unshareable', () => {
  it('late, when others have joined its load, is kept from them too', async () => {
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

  it('is told of as unshareable, whatever the loader says after that', async () => {
    const [cache] = createFleet().caches
    const { outcome } = await cache.lookup('k', (load) => {
      load.uncacheable({ share: false })
      load.uncacheable({ share: true })
    })
    expect(outcome).toMatchObject({ kind: 'uncacheable', share: false })
  })
})

describe('a load without the store', () => {
  it('whose result may not be shared gives it to its own caller only', async () => {
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
