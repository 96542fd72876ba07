import { describe, expect, it } from '@jest/globals'
import type { Load } from '@cattlegrid/core'
import { createFleet, settle, trace } from './fleet.ts'

describe('an uncacheable result', () => {
  it('is shared with the callers that joined, and stored nowhere', async () => {
    const fleet = createFleet()
    const [cache, other] = fleet.caches
    let loads = 0
    const loader = (load: Load) => {
      load.uncacheable()
      return ++loads
    }
    const answers = await Promise.all([cache.lookup('k', loader), cache.lookup('k', loader)])
    expect(answers.map(({ value }) => value)).toEqual([1, 1])
    expect(answers[0]?.outcome).toEqual({ kind: 'uncacheable', for: 10_000, share: true })
    expect(await other.get('k')).toBeUndefined()
  })

  it('that may not be shared reaches nobody but the caller whose loader ran, in any process', async () => {
    const fleet = createFleet()
    const users = fleet.caches.flatMap((cache, process) => [0, 1].map((n) => ({ cache, user: `user ${process}.${n}` })))
    const calls = users.map(({ cache, user }) =>
      cache.getOrSet('k', async (load) => {
        await Promise.resolve()
        load.uncacheable({ share: false })
        return user
      }),
    )
    await settle(fleet)
    expect(await Promise.all(calls)).toEqual(users.map(({ user }) => user))
  })

  it('that may not be shared releases all others as soon as the loader says so, not when it ends', async () => {
    const fleet = createFleet()
    const [cache, other] = fleet.caches
    const slow = cache.getOrSet('k', (load) => {
      load.uncacheable({ share: false })
      return new Promise<string>(() => {})
    })
    const joined = cache.getOrSet('k', () => 'mine')
    const elsewhere = other.getOrSet('k', () => 'theirs')
    await settle(fleet)
    expect(await joined).toBe('mine')
    expect(await elsewhere).toBe('theirs')
    void slow
  })

  it('cannot be made shareable again by a later word', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const loader = (user: string) => (load: Load) => {
      load.uncacheable({ share: false })
      load.uncacheable({ share: true })
      return user
    }
    const calls = [cache.getOrSet('k', loader('ann')), cache.getOrSet('k', loader('bob'))]
    expect(await Promise.all(calls)).toEqual(['ann', 'bob'])
  })

  it('is remembered for its time by the whole fleet: nobody queues meanwhile, and then one leads again', async () => {
    const fleet = createFleet()
    const [cache, other] = fleet.caches
    await cache.getOrSet('k', (load) => load.uncacheable({ for: '2s' }))
    const events = trace(other, 'lead', 'follow')
    const loads = [other.getOrSet('k', () => 'a'), cache.getOrSet('k', () => 'b')]
    expect(await Promise.all(loads)).toEqual(['a', 'b'])
    expect(events).toEqual([])
    await fleet.runtime.advance(2001)
    await other.getOrSet('k', () => 'kept')
    expect(events).toEqual(['lead'])
    expect(await cache.get('k')).toBe('kept')
  })

  it('takes the old value with it, so that it is not served on', async () => {
    const fleet = createFleet({ staleIfError: '1h' })
    const [cache] = fleet.caches
    await cache.set('k', 'old')
    await fleet.runtime.advance(10_001)
    await cache.getOrSet('k', (load) => load.uncacheable())
    expect(await cache.get('k', { stale: true })).toBeUndefined()
  })
})
