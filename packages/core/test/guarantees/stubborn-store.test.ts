import { describe, expect, it } from '@jest/globals'
import { createFleet, Origin, rejection, settle } from '../support/fleet.ts'

describe('a caller', () => {
  it('is not held for ever by a store that keeps answering "changed"', async () => {
    const fleet = createFleet({ waitTimeout: '1s' })
    fleet.store.acquire = () => Promise.resolve({ kind: 'changed' })
    const call = rejection(fleet.caches[0].getOrSet('k', () => 'never'))
    await fleet.runtime.advance(2000)
    expect(await call).toMatchObject({ code: 'CATTLEGRID_WAIT_TIMEOUT' })
    await fleet.runtime.advance(2000)
    expect(fleet.runtime.pendingTimers).toBe(0)
  })

  it('that asks for many keys waits for a permit like any other', async () => {
    const fleet = createFleet({ maxLoads: 1 })
    const [cache] = fleet.caches
    const origin = new Origin()
    void cache.getOrSet('busy', origin.loader)
    await settle(fleet)
    let asked = false
    const many = cache.getOrSetMany(['a', 'b'], (keys) => {
      asked = true
      return new Map(keys.map((key) => [key, key]))
    })
    await settle(fleet)
    expect(asked).toBe(false)
    origin.last.resolve('done')
    await settle(fleet)
    expect(await many).toEqual(
      new Map([
        ['a', 'a'],
        ['b', 'b'],
      ]),
    )
  })

  it('keeps the uncacheable mark that released the other callers, whatever its loader sets later', async () => {
    const fleet = createFleet()
    const [cache, other] = fleet.caches
    const { outcome } = await cache.lookup('k', (load) => {
      load.uncacheable({ share: false, for: '1s' })
      load.uncacheable({ for: '5s' })
    })
    expect(outcome).toEqual({ kind: 'uncacheable', for: 1000, share: false })
    await fleet.runtime.advance(1001)
    expect((await other.lookup('k', () => 'kept')).outcome).toEqual({ kind: 'committed' })
  })
})
